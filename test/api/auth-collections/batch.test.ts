// Profiles among the writes of a batch: users are made with everything else, or not at all.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { nick, password, profileApp } from '../../harness/profiles.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const anyone = as();
const store = await profileApp();
const { workspace, app, admin } = store;

beforeAll(async () => {
  await store.profiles('members', { rules: { create: 'any' } });
  await store.profiles('sellers', { fields: [{ ...nick, unique: true }], rules: { create: 'any' } });
});

function creation(collection: string, body: Record<string, unknown>): unknown {
  return { method: 'POST', collection, body };
}

async function batch(caller: Caller, ...requests: unknown[]): Promise<ApiResponse> {
  return await caller.post(`${app.path}/batch`, { requests });
}

describe('a batch with profiles', () => {
  it('makes their users, and links those that it has made itself', async () => {
    const email = freshEmail();
    const { results } = expectOk(
      await batch(
        anyone,
        creation('members', { email, password, nick: 'm' }),
        creation('sellers', { email, nick: email }),
      ),
    );
    const [member, seller] = results.map(({ body }: { body: { id: string } }) => body);
    expect(seller.id).toBe(member.id);
    expect(seller.fields).toMatchObject({ email, verified: false });
    await store.login(email);
    expect(await store.usersNamed(email)).toMatchObject([{ id: member.id, has_password: true }]);
  });

  it('makes no user when a later write is refused', async () => {
    const [email, other] = [freshEmail(), freshEmail()];
    const refused = await batch(
      anyone,
      creation('members', { email, password }),
      creation('sellers', { email: other, nick: other }),
      creation('members', { email }),
    );
    expectError(refused, 409, 'conflict');
    expect(refused.body.message).toBe('requests.2: email: another record has this value');
    expect([...await store.usersNamed(email), ...await store.usersNamed(other)]).toEqual([]);
    const logged = expectOk(await admin.get(`${app.path}/audit?action=user_register&per_page=200`)).items;
    expect(logged.map(({ target }: { target: string }) => target)).not.toContain(email);
  });

  it('refuses a password for a user that it has made itself', async () => {
    const email = freshEmail();
    const refused = await batch(
      anyone,
      creation('members', { email, password }),
      creation('sellers', { email, password }),
    );
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe(
      'requests.1: password: must be left out: there is a user with this email',
    );
    expect(await store.usersNamed(email)).toEqual([]);
  });

  it('has ten passwords at most', async () => {
    const emails = Array.from({ length: 11 }, () => freshEmail());
    const many = await batch(anyone, ...emails.map((email) => creation('members', { email, password })));
    expectError(many, 400, 'validation');
    expect(many.body.message).toBe('requests: at most 10 of them can have a password');
    expect(await store.usersNamed(emails[0] ?? '')).toEqual([]);
    expectOk(await batch(anyone, ...emails.map((email) => creation('members', { email }))));
  });

  it('is refused before any password is hashed when a rule refuses one of its writes', async () => {
    await store.profiles('closed');
    const email = freshEmail();
    const refused = await batch(
      anyone,
      creation('members', { email, password: 'short' }),
      creation('closed', { email }),
    );
    expectError(refused, 401, 'unauthorized');
  });

  it('writes nothing to the built-in users', async () => {
    const user = await ownUser(workspace);
    const path = `requests.0: "users" is built in: users are written by the auth and user routes`;
    for (
      const request of [
        creation('users', { email: freshEmail() }),
        { method: 'PATCH', collection: 'users', id: user.id, body: { verified: true } },
        { method: 'DELETE', collection: 'users', id: user.id },
      ]
    ) {
      const refused = await batch(admin, request);
      expectError(refused, 403, 'forbidden');
      expect(refused.body.message).toBe(path);
      expectError(await batch(anyone, request), 401, 'unauthorized');
      expectError(await batch(user, request), 403, 'forbidden');
    }
  });
});
