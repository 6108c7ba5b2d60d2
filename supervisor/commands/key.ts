// `bulkhead key …`: API keys of the server, a workspace or an app.
import { isLevel } from '../remote/credentials.ts';
import { CommandFailed } from '../remote/failure.ts';
import type { Place } from '../remote/place.ts';
import { keysPath } from '../remote/session.ts';
import type { GivenArguments } from './remote-command.ts';
import { resource } from './resource.ts';

/** Manages API keys. */
export const key = resource({
  name: 'key',
  level: 'app',
  path: readPath,
  columns: [['ID', 'id'], ['NAME', 'name'], ['SCOPES', 'scopes'], ['USED', 'last_used_at'], [
    'ENDS',
    'expires_at',
  ]],
  id: 'id',
  args: {
    level: { type: 'string', description: 'server, workspace or app (default: the narrowest that is named)' },
  },
  needsPassword: true,
  create: {
    description: 'Create a key, and show its secret once.',
    args: {
      name: { type: 'positional', description: 'What it is for' },
      scopes: {
        type: 'string',
        description: 'What it may do, as in records:read@posts,hooks:write',
        required: true,
      },
      expires: { type: 'string', description: 'When it ends, as in 2030-01-01T00:00:00Z (default: never)' },
    },
    body: async (given) => ({
      name: given.required('name'),
      scopes: given.required('scopes').split(','),
      expires_at: given.text('expires') ?? null,
    }),
    note: 'The secret is shown only now.',
  },
});

function readPath(place: Place, given: GivenArguments): string {
  const level = given.text('level') ??
    (place.workspace === undefined ? 'server' : place.app === undefined ? 'workspace' : 'app');
  if (!isLevel(level)) {
    throw new CommandFailed('refused', `the level is server, workspace or app, not ${level}`);
  }
  return keysPath(level, place);
}
