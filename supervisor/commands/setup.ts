// `bulkhead setup`: sets the first password of a server, signs in, and makes a first workspace and app.
import { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { printJson, printLine } from '../remote/print.ts';
import { readPassword } from '../remote/prompt.ts';
import { signInForKey } from './login.ts';
import { remoteCommand } from './remote-command.ts';

/** Sets a server up. */
export const setup = remoteCommand({
  name: 'setup',
  description: 'Set a new server up: the password of its master admin, and a first workspace and app.',
  level: 'app',
  args: {
    'no-login': { type: 'boolean', description: 'Do not sign in afterwards' },
    'password-stdin': { type: 'boolean', description: 'Read the password from standard input' },
  },
  run: async ({ place, given, json }) => {
    const { url } = place;
    const [workspace, app] = [given.text('workspace'), given.text('app')];
    const isLoggedIn = !given.has('no-login');
    if (app !== undefined && workspace === undefined) {
      throw new CommandFailed('refused', 'an app is in a workspace: say --workspace <id> too');
    }
    if (workspace !== undefined && !isLoggedIn) {
      throw new CommandFailed('refused', 'a workspace is made by who signs in: leave --no-login out');
    }
    const anyone = new RemoteClient(url, undefined);
    const { body } = await anyone.request('/healthz');
    if (isInitialized(body)) {
      throw new CommandFailed(
        'refused',
        `${url} is set up already; sign in: bulkhead login --url ${url}`,
        'conflict',
      );
    }
    const password = await readPassword({
      question: 'New password of the master admin "admin"',
      fromStdin: given.has('password-stdin'),
      isNew: true,
    });
    await anyone.request('/_/setup', { method: 'POST', body: { password } });
    if (!isLoggedIn) return json ? printJson({ url }) : printLine(`${url} is set up.`);
    const { key: { secret } } = await signInForKey(place, { level: 'server', name: 'admin', password });
    const client = new RemoteClient(url, secret);
    if (workspace !== undefined) await create(client, '/api/workspaces', workspace);
    if (app !== undefined) await create(client, `/api/workspaces/${workspace}/apps`, app);
    if (json) return printJson({ url, name: 'admin', workspace, app });
    printLine(`${url} is set up, and you are signed in as admin.`);
    if (workspace !== undefined) {
      printLine(`Workspace ${workspace}${app === undefined ? '' : `, app ${app}`}: created.`);
    }
  },
});

function isInitialized(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'initialized' in body && body.initialized === true;
}

async function create(client: RemoteClient, path: string, id: string): Promise<void> {
  await client.request(path, { method: 'POST', body: { id, name: id } });
}
