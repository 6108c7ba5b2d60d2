// End-users of a test's own workspace.
import { randomUUID } from 'node:crypto';
import { as, type Caller, expectOk, type OwnWorkspace, patiently } from './api.ts';

/** An end-user who is logged in. */
export interface OwnUser extends Caller {
  id: string;
  email: string;
  password: string;
  refreshToken: string;
}

/** An address that nobody has. */
export function freshEmail(): string {
  return `${randomUUID()}@example.com`;
}

/** Registers an end-user and logs in. */
export async function ownUser({ path }: OwnWorkspace, email: string = freshEmail()): Promise<OwnUser> {
  const password = 'a password of the user';
  const send = async (step: 'register' | 'login') =>
    expectOk(await patiently(() => as().post(`${path}/auth/users/${step}`, { email, password })));
  await send('register');
  const session = await send('login');
  const { access_token, refresh_token, user } = session;
  return { ...as(access_token), id: String(user.id), email, password, refreshToken: String(refresh_token) };
}
