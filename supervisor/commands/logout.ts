// `bulkhead logout`: deletes the key that `login` made, at the server and here.
import { CommandFailed } from '../remote/failure.ts';
import { removeLogin } from '../remote/credentials.ts';
import { printJson, printLine } from '../remote/print.ts';
import { readPassword } from '../remote/prompt.ts';
import { keysPath, withSession } from '../remote/session.ts';
import { remoteCommand } from './remote-command.ts';

/** Signs out. */
export const logout = remoteCommand({
  name: 'logout',
  description: 'Delete the key that login made: at the server, which asks for the password, and here.',
  level: 'server',
  args: {
    'keep-key': {
      type: 'boolean',
      description: 'Delete the key only here; at the server it lasts until it ends',
    },
    'password-stdin': { type: 'boolean', description: 'Read the password from standard input' },
  },
  run: async ({ place, given, json }) => {
    const { login, url } = place;
    if (login === undefined) {
      throw new CommandFailed('unauthorized', `nobody is signed in to ${url}: there is nothing to delete`);
    }
    const { level, name, key } = login;
    const keepsKey = given.has('keep-key');
    if (!keepsKey) {
      const password = await readPassword({
        question: `Password of ${name}`,
        fromStdin: given.has('password-stdin'),
      });
      const there = { url, workspace: login.workspace, app: login.app };
      await withSession(
        there,
        { level, name, password },
        (client) =>
          client.request(`${keysPath(level, there)}/${key.id}`, { method: 'DELETE', accept: [404] }),
      );
    }
    removeLogin(url);
    if (json) return printJson({ url, key: key.id, deleted: !keepsKey });
    printLine(
      keepsKey
        ? `Signed out here. The key ${key.id} works until ${key.expires_at ?? 'it is deleted'}.`
        : `Signed out of ${url}, and the key is deleted.`,
    );
  },
});
