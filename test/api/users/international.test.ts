// Addresses of international domains: both forms are one address, which is shown as it was given.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { mailsTo, secretFor } from '../../harness/mailbox.ts';

const password = 'a password of the user';
let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

/** An address that nobody has, in both forms. */
function freshAddress(): { written: string; ascii: string } {
  const name = randomUUID();
  return { written: `${name}@bücher.example`, ascii: `${name}@xn--bcher-kva.example` };
}

const register = (email: string) => as().post(`${auth}/users/register`, { email, password });
const login = (email: string, secret = password) =>
  as().post(`${auth}/users/login`, { email, password: secret });

describe('an international address', () => {
  it('logs in by either form, and is shown as it was given', async () => {
    const { written, ascii } = freshAddress();
    expect(expectOk(await register(written.toUpperCase())).email).toBe(written);
    for (const form of [written, ascii, ascii.toUpperCase()]) {
      expect(expectOk(await login(form)).user.email).toBe(written);
    }
    const other = freshAddress();
    expect(expectOk(await register(other.ascii)).email).toBe(other.ascii);
    expect(expectOk(await login(other.written)).user.email).toBe(other.ascii);
  });

  it('has one user, also when both forms come at once', async () => {
    const { written, ascii } = freshAddress();
    const responses = await Promise.all([register(written), register(ascii)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    for (const form of [written, ascii]) expectError(await register(form), 409, 'conflict');
  });

  it('gets its mail at the domain in ASCII, and takes codes and tokens by either form', async () => {
    const { written, ascii } = freshAddress();
    expectOk(await as().post(`${auth}/otp/request`, { email: written }));
    const code = await secretFor(ascii);
    const session = expectOk(await as().post(`${auth}/otp/login`, { email: ascii, code }));
    expectOk(await as().post(`${auth}/password-reset/request`, { email: written }));
    const token = await secretFor(ascii, 2);
    expectOk(await as().post(`${auth}/password-reset/confirm`, { token, new_password: 'quite another one' }));
    expect(expectOk(await login(written, 'quite another one')).user).toMatchObject({
      id: session.user.id,
      email: ascii,
    });
    expect(await mailsTo(ascii, 2)).toHaveLength(2);
  });

  it('has a new code in place of that for the other form', async () => {
    const { written, ascii } = freshAddress();
    expectOk(await as().post(`${auth}/otp/request`, { email: written }));
    const first = await secretFor(ascii);
    expectOk(await as().post(`${auth}/otp/request`, { email: ascii }));
    await secretFor(ascii, 2);
    expectError(
      await as().post(`${auth}/otp/login`, { email: written, code: first }),
      401,
      'bad_credentials',
    );
  });

  it('is locked after five failures, whatever the forms', async () => {
    const { written, ascii } = freshAddress();
    expectOk(await register(written));
    for (const form of [written, ascii, written, ascii, written]) {
      expectError(await login(form, 'a wrong one'), 401, 'bad_credentials');
    }
    for (const form of [written, ascii]) expectError(await login(form), 429, 'too_many_requests');
  });

  it('can be changed to, and from', async () => {
    const { written, ascii } = freshAddress();
    const before = `${randomUUID()}@example.com`;
    expectOk(await register(before));
    const user = as(expectOk(await login(before)).access_token);
    expectOk(await user.post(`${auth}/email-change/request`, { new_email: written, password }));
    expectOk(await user.post(`${auth}/email-change/confirm`, { token: await secretFor(ascii) }));
    expect(expectOk(await login(ascii)).user.email).toBe(written);
    expectError(await register(ascii), 409, 'conflict');
    expectOk(await register(before));
  });

  it('has one profile in an auth collection, which shows it as the user gave it', async () => {
    const app = await own.app();
    const schema = { id: 'members', kind: 'auth', fields: [{ name: 'mail', kind: 'email' }] };
    expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
    const records = `${app.path}/collections/members/records`;
    const { written, ascii } = freshAddress();
    const { id } = expectOk(await register(written));
    const profile = expectOk(await app.admin.post(records, { email: ascii, mail: ascii }));
    expect(profile).toMatchObject({ id, fields: { email: written, mail: ascii } });
    const other = freshAddress();
    expectOk(await app.admin.post(records, { email: other.written, mail: other.written, password }));
    expect(expectOk(await login(other.ascii)).user.email).toBe(other.written);
    const filter = encodeURIComponent(
      `email = "${other.written.toUpperCase()}" && mail = "${other.written}"`,
    );
    expect(expectOk(await app.admin.get(`${records}?filter=${filter}`)).total_items).toBe(1);
    expectError(await app.admin.post(records, { email: ascii }), 409, 'conflict');
  });

  it('may be that of an admin, who has one account', async () => {
    const { written, ascii } = freshAddress();
    const { master } = own;
    const admin = { email: written, password, name: 'Ada', app_ids: [] };
    expect(expectOk(await master.post(`${own.path}/admins`, admin)).email).toBe(written);
    expectError(await master.post(`${own.path}/admins`, { ...admin, email: ascii }), 409, 'conflict');
    const session = expectOk(await as().post(`${auth}/admin/login`, { email: ascii, password }));
    expect(session.admin.email).toBe(written);
  });

  it('is refused with more than ASCII before the @, which mail servers may not take', async () => {
    const response = await register('ädä@bücher.example');
    expectError(response, 400, 'validation');
    expect(response.body.message).toBe(
      'email: must be an email address with only ASCII characters before the @',
    );
  });
});
