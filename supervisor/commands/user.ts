// `bulkhead user …`: end-users of a workspace.
import { workspacePath } from '../remote/place.ts';
import { printJson, printLine } from '../remote/print.ts';
import { findByEmail } from './find-by-email.ts';
import { remoteCommand } from './remote-command.ts';
import { resource } from './resource.ts';

/** Manages end-users. The server lets nobody choose the password of another: who is new gets an invitation. */
export const user = resource({
  name: 'user',
  level: 'workspace',
  path: (place) => `${workspacePath(place)}/users`,
  columns: [['ID', 'id'], ['EMAIL', 'email'], ['VERIFIED', 'verified'], ['LAST LOGIN', 'last_login']],
  id: 'user',
  find: findByEmail,
  more: {
    create: remoteCommand({
      name: 'create',
      description: 'Invite somebody by mail, who chooses a password and is an end-user then.',
      level: 'workspace',
      args: { email: { type: 'positional', description: 'The address' } },
      run: async ({ place, client, given, json }) => {
        const email = given.required('email');
        await client.request(`${workspacePath(place)}/users/invite`, { method: 'POST', body: { email } });
        return json ? printJson({ invited: email }) : printLine(`Invited ${email}.`);
      },
    }),
  },
});
