// Signs in with a password for as long as one piece of work takes: to make keys and admins, which no key may do.
import { RemoteClient } from './client.ts';
import { CommandFailed } from './failure.ts';
import { textMember } from './members.ts';
import type { KeyLevel } from './scopes.ts';
import { appPath, type Place, workspacePath } from './place.ts';

/** Who signs in. */
export interface SignIn {
  level: KeyLevel;
  /** The name of the master admin, or the email of another. */
  name: string;
  password: string;
}

/** Signs in, does the work as that admin, and logs out. Throws `CommandFailed`. */
export async function withSession<Result>(
  place: Pick<Place, 'url' | 'workspace'>,
  { level, name, password }: SignIn,
  work: (client: RemoteClient) => Promise<Result>,
): Promise<Result> {
  const anyone = new RemoteClient(place.url, undefined);
  const { body } = level === 'server'
    ? await anyone.request('/_/auth/admin/login', { method: 'POST', body: { username: name, password } })
    : await anyone.request(`${workspacePath(place)}/auth/admin/login`, {
      method: 'POST',
      body: { email: name, password },
    });
  const token = textMember(body, 'access_token');
  if (token === undefined) throw new CommandFailed('refused', `${place.url} is no Bulkhead server`);
  const client = new RemoteClient(place.url, token);
  try {
    return await work(client);
  } finally {
    await client.request('/_/auth/logout', { method: 'POST', body: {} });
  }
}

/** The path of the keys of a level. Throws `CommandFailed` when the place does not name the workspace or app. */
export function keysPath(level: KeyLevel, place: Pick<Place, 'workspace' | 'app'>): string {
  if (level === 'server') return '/api/keys';
  return `${level === 'app' ? appPath(place) : workspacePath(place)}/keys`;
}
