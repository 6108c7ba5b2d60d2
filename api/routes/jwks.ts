// The public keys that access tokens can be verified with (RFC 7517), at two paths.
import { type RequestContext, route } from '../contract/route.ts';
import { array, object, oneOf, string } from '../contract/schema.ts';

const keySet = object({
  keys: array(object({
    kty: oneOf(['RSA']),
    n: string(),
    e: string(),
    alg: oneOf(['RS256']),
    use: oneOf(['sig']),
    kid: string(),
  })),
});

const declaration = {
  method: 'GET',
  summary: 'Returns the JSON Web Key Set that verifies access tokens.',
  scope: 'open',
  status: 200,
  response: keySet,
  contentType: 'application/jwk-set+json',
  handle: (
    { deps, overrides }: Pick<RequestContext<string, 'open', undefined, undefined>, 'deps' | 'overrides'>,
  ) => {
    overrides.headers.push(['Cache-Control', 'public, max-age=3600']);
    return deps.signingKeys.jwks;
  },
} as const;

/** At the path that RFC 8615 has for such things. */
export const jwksWellKnown = route({ ...declaration, path: '/.well-known/jwks.json' });

/** At a path beside the other auth routes. */
export const jwks = route({ ...declaration, path: '/_/auth/jwks.json' });
