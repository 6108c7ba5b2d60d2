// `bulkhead workspace …`.
import { resource } from './resource.ts';
import { wholeNumber } from './remote-command.ts';

/** Manages workspaces. */
export const workspace = resource({
  name: 'workspace',
  level: 'server',
  path: () => '/api/workspaces',
  columns: [['ID', 'id'], ['NAME', 'name'], ['CREATED', 'created_at'], ['EXPIRES', 'expires_at']],
  id: 'id',
  create: {
    description: 'Create a workspace.',
    args: {
      id: { type: 'positional', description: 'Its id, for URLs' },
      name: { type: 'string', description: 'Its name (default: the id)' },
      ttl: { type: 'string', description: 'Seconds after which the server deletes it' },
    },
    body: async (given) => {
      const id = given.required('id');
      const ttl = wholeNumber(given, 'ttl');
      return { id, name: given.text('name') ?? id, ...ttl !== undefined && { ttl_sec: ttl } };
    },
  },
});
