// `bulkhead app …`.
import { workspacePath } from '../remote/place.ts';
import { resource } from './resource.ts';

/** Manages the apps of a workspace. */
export const app = resource({
  name: 'app',
  level: 'workspace',
  path: (place) => `${workspacePath(place)}/apps`,
  columns: [['ID', 'id'], ['NAME', 'name'], ['CREATED', 'created_at']],
  id: 'id',
  create: {
    description: 'Create an app.',
    args: {
      id: { type: 'positional', description: 'Its id, for URLs' },
      name: { type: 'string', description: 'Its name (default: the id)' },
    },
    body: async (given) => ({ id: given.required('id'), name: given.text('name') ?? given.required('id') }),
  },
});
