// The origins of a workspace, whose pages may use cookies.
import { stated } from '../contract/stated.ts';
import { route } from '../contract/route.ts';
import { array, object, string } from '../contract/schema.ts';
import { setOrigins, showOrigins } from '../workspaces/origins.ts';

/** A scheme and a host, perhaps with a port. */
const originPattern = '^[a-z][a-z0-9+.-]*://[A-Za-z0-9.-]+(?::[0-9]{1,5})?$';

const origins = object({
  origins: array(stated(string({ max: 300 }), { pattern: originPattern }), { max: 100 }),
});

/** Shows them. */
export const originsShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/origins',
  summary: 'Returns the origins whose pages may use cookies of this workspace.',
  scope: 'workspace_admin',
  key: 'settings:read',
  status: 200,
  response: origins,
  handle: async ({ deps, target }) => ({ origins: await showOrigins(deps, target.workspace) }),
});

/** Sets them. */
export const originsPut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/origins',
  summary: 'Sets the origins whose pages may use cookies of this workspace, within policy `cors.origins`.',
  scope: 'workspace_admin',
  key: 'settings:write',
  body: origins,
  status: 200,
  response: origins,
  errors: ['policy_violation'],
  handle: async ({ deps, target, body, principal, origin, now }) => ({
    origins: await setOrigins(deps, target.workspace, { ...body, caller: { principal, origin, now } }),
  }),
});
