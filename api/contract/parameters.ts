// Describes the parameters of a route for the API description: of its path, its query, and the headers that it reads.
import { tenantIdPattern } from '../../storage/sql/ids.ts';
import type { JsonSchema } from './json-schema.ts';
import type { AnyRoute } from './route.ts';

/** A parameter (https://spec.openapis.org/oas/v3.1.1.html#parameter-object). */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

const tenantId: JsonSchema = { type: 'string', pattern: tenantIdPattern.source };
const identifier: JsonSchema = { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_]{0,62}$' };

/** The descriptions of path parameters; a path with any other parameter cannot be described. */
const pathParameters: Readonly<Record<string, { description: string; schema: JsonSchema }>> = {
  workspace: { description: 'Id of the workspace.', schema: tenantId },
  app: { description: 'Id of the app.', schema: tenantId },
  field: { description: 'Name of the policy, such as `password.length`.', schema: { type: 'string' } },
  coll: { description: 'Id of the collection.', schema: identifier },
  name: { description: 'Id of the collection.', schema: identifier },
  action: {
    description: 'The action that the rule is for.',
    schema: { type: 'string', enum: ['list', 'get', 'create', 'update', 'delete'] },
  },
  provider: { description: 'Name of the OAuth provider.', schema: tenantId },
  filename: {
    description: 'Name of the hook file.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_][^/\\\\]*\\.(?:js|ts)$' },
  },
  variable: {
    description: 'Name of the variable.',
    schema: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
  },
  path: { description: 'A path that a hook file of the app registered.', schema: { type: 'string' } },
  id: { description: 'Id of the object.', schema: { type: 'string', format: 'uuid' } },
};

/** Describes all parameters of a route. Throws `RangeError` for a path parameter without a description. */
export function describeParameters(route: AnyRoute): Parameter[] {
  return [
    ...describePathParameters(route.path),
    ...describeQueryParameters(route),
    ...describeHeaders(route),
  ];
}

function describePathParameters(path: string): Parameter[] {
  return [...path.matchAll(/:([a-z]+)/g)].map(([, name = '']) => {
    const known = pathParameters[name];
    if (known === undefined) {
      throw new RangeError(`${path}: describe the path parameter "${name}" in api/contract/parameters.ts`);
    }
    return { name, in: 'path', required: true, ...known };
  });
}

function describeQueryParameters({ query }: AnyRoute): Parameter[] {
  return Object.entries(query?.json.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schema;
    return {
      name,
      in: 'query',
      required: query?.json.required?.includes(name) === true,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

/** Without `Content-Type` and `Authorization`: bodies and security describe them, and OpenAPI ignores them here. */
function describeHeaders({ headers }: AnyRoute): Parameter[] {
  return Object.entries(headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}
