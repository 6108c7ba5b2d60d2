// `bulkhead admin …`: admins of workspaces and apps, and the password of the master admin.
import { workspacePath } from '../remote/place.ts';
import { readPassword } from '../remote/prompt.ts';
import { findByEmail } from './find-by-email.ts';
import { resource } from './resource.ts';

const passwordVariable = 'BULKHEAD_NEW_PASSWORD';

/** Manages admins. */
export const admin = resource({
  name: 'admin',
  level: 'workspace',
  path: (place) => `${workspacePath(place)}/admins`,
  columns: [['ID', 'id'], ['EMAIL', 'email'], ['ROLE', 'role'], ['APPS', 'app_ids'], ['NAME', 'name']],
  id: 'admin',
  find: findByEmail,
  needsPassword: true,
  create: {
    description: `Create an admin. The new password is asked for, or read from ${passwordVariable}.`,
    args: {
      email: { type: 'positional', description: 'The address' },
      name: { type: 'string', description: 'The name (default: the address)' },
      apps: { type: 'string', description: 'The apps of an app admin, as in shop,blog (default: all)' },
    },
    body: async (given) => {
      const email = given.required('email');
      const apps = given.text('apps')?.split(',').filter((id) => id !== '') ?? [];
      return {
        email,
        name: given.text('name') ?? email,
        password: await readPassword({
          question: `New password of ${email}`,
          isNew: true,
          variable: passwordVariable,
        }),
        app_ids: apps,
      };
    },
  },
  more: { password: async () => (await import('./server-commands.ts')).password },
});
