// `bulkhead login`: signs in with a password once, and keeps an API key instead of it.
import { hostname, userInfo } from 'node:os';
import { credentialsPath, isLevel, type Login, readCredentials, storeLogin } from '../remote/credentials.ts';
import { CommandFailed } from '../remote/failure.ts';
import { textMember } from '../remote/members.ts';
import type { Place } from '../remote/place.ts';
import { printJson, printLine, printNote } from '../remote/print.ts';
import { askLine, canAsk, readPassword } from '../remote/prompt.ts';
import { type KeyLevel, loginScopes } from '../remote/scopes.ts';
import { keysPath, type SignIn, withSession } from '../remote/session.ts';
import { type GivenArguments, remoteCommand, wholeNumber } from './remote-command.ts';

const defaultDays = 90;

/** Signs in. */
export const login = remoteCommand({
  name: 'login',
  description: 'Sign in to a server, and keep a key for later commands.',
  level: 'app',
  args: {
    level: { type: 'string', description: 'server, workspace or app: what the key is for' },
    name: { type: 'string', description: 'The name of the master admin, or the email of another admin' },
    days: { type: 'string', description: `Days after which the key ends (default: ${defaultDays})` },
    'password-stdin': { type: 'boolean', description: 'Read the password from standard input' },
  },
  run: async ({ place, given, json }) => {
    const url = given.text('url') ?? (canAsk() ? await askLine('Server', '--url', place.url) : place.url);
    const there = { ...place, url };
    const { level, name } = await readSignIn(given, there);
    const complete = await completePlace(level, there);
    const password = await readPassword({
      question: `Password of ${name}`,
      fromStdin: given.has('password-stdin'),
    });
    const made = await signInForKey(complete, { level, name, password }, wholeNumber(given, 'days'));
    if (json) return printJson({ ...made, key: { ...made.key, secret: undefined } });
    printLine(`Signed in to ${made.url} as ${made.name}.`);
    printLine(
      `The key is in ${credentialsPath()}, and ends on ${made.key.expires_at?.slice(0, 10) ?? 'no day'}.`,
    );
  },
});

/** Makes a key of the level, stores it, and ends the key that it takes the place of. Throws `CommandFailed`. */
export async function signInForKey(
  place: Pick<Place, 'url' | 'workspace' | 'app'>,
  signIn: SignIn,
  days: number = defaultDays,
): Promise<Login> {
  warnOpen(place.url);
  const { level, name } = signIn;
  return await withSession(place, signIn, async (client) => {
    const path = keysPath(level, place);
    const { body } = await client.request(path, {
      method: 'POST',
      body: {
        name: `bulkhead login (${userInfo().username}@${hostname()})`.slice(0, 200),
        scopes: loginScopes[level],
        expires_at: new Date(Date.now() + days * 86_400_000).toISOString(),
      },
    });
    const id = textMember(body, 'id');
    const secret = textMember(body, 'secret');
    if (id === undefined || secret === undefined) {
      throw new CommandFailed('refused', 'the server made no key');
    }
    const made: Login = {
      url: place.url,
      level,
      name,
      workspace: level === 'server' ? undefined : place.workspace,
      app: level === 'app' ? place.app : undefined,
      key: { id, secret, expires_at: textMember(body, 'expires_at') ?? null },
    };
    const former = readCredentials().logins.find(({ url }) => url === place.url);
    storeLogin(made);
    if (former !== undefined && keysPath(former.level, former) === path) {
      await client.request(`${path}/${former.key.id}`, { method: 'DELETE', accept: [404] });
    }
    return made;
  });
}

async function readSignIn(
  given: GivenArguments,
  place: Pick<Place, 'workspace' | 'app'>,
): Promise<Pick<SignIn, 'level' | 'name'>> {
  const likely = given.text('app') !== undefined
    ? 'app'
    : given.text('workspace') === undefined
    ? 'server'
    : 'workspace';
  const asked = given.text('level') ??
    (canAsk() && likely === 'server'
      ? await askLine(
        'Level: server, workspace or app',
        '--level',
        place.workspace === undefined ? likely : 'workspace',
      )
      : likely);
  if (!isLevel(asked)) {
    throw new CommandFailed('refused', `the level is server, workspace or app, not ${asked}`);
  }
  const name = given.text('name') ??
    (asked === 'server' ? 'admin' : await askLine('Email', '--name'));
  return { level: asked, name };
}

async function completePlace(level: KeyLevel, place: Place): Promise<Place> {
  const workspace = place.workspace ??
    (level === 'server' ? undefined : await askLine('Workspace', '--workspace'));
  const app = place.app ?? (level === 'app' ? await askLine('App', '--app') : undefined);
  return { ...place, workspace, app };
}

function warnOpen(url: string): void {
  const { protocol, hostname: host } = new URL(url);
  if (protocol === 'http:' && !['127.0.0.1', '[::1]', 'localhost'].includes(host)) {
    printNote(`bulkhead: ${url} is not encrypted: others on the way can read the password and the key`);
  }
}
