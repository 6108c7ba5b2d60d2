// Profiles whose writes hooks are asked about: what a runner answers is held to what a caller may say.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCollection } from '../../../api/collections/create.ts';
import { runBatch } from '../../../api/records/batch.ts';
import { createRecord } from '../../../api/records/create.ts';
import type { RecordInput } from '../../../api/records/input/values.ts';
import { updateRecord } from '../../../api/records/update.ts';
import { unboundedAccess } from '../../../api/rules/access.ts';
import { enrolUser } from '../../../storage/workspace/enrol-user.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { type BareApp, bareApp, created as now } from '../../harness/bare-app.ts';
import { freshEmail } from '../../harness/users.ts';

let app: BareApp;
/** What the hooks were asked about. */
let asked: StoredRecord[] = [];

beforeAll(async () => {
  app = await bareApp();
  const fields = [{ name: 'nick', kind: 'text' } as const];
  const declared = { id: 'members', kind: 'auth', fields } as const;
  await createCollection(app.deps, await app.definition(), { declared, by: app.by });
});
afterAll(() => app.end());

/** The server with a runner that answers every question with the same changes. */
function answering(changes: RecordInput): BareApp['deps'] {
  asked = [];
  const hooks = {
    before: true,
    after: false,
    runBefore: ({ record }: { record: StoredRecord }) => {
      asked.push(record);
      return Promise.resolve(changes);
    },
    runAfter: () => Promise.resolve(),
  };
  return {
    ...app.deps,
    hooks: { getWriteHooks: () => Promise.resolve({ isEmpty: false, on: () => hooks }) },
  };
}

async function create(input: RecordInput, changes: RecordInput): Promise<StoredRecord> {
  const access = unboundedAccess('create', now);
  return await createRecord(answering(changes), await app.target('members'), { access, input, now });
}

async function batch(input: RecordInput, changes: RecordInput): ReturnType<typeof runBatch> {
  const requests = [{ method: 'POST', collection: 'members', body: input } as const];
  const asking = { principal: app.by.principal, now, query: {} };
  return await runBatch(answering(changes), await app.definition(), { requests, asking });
}

async function userNamed(email: string): Promise<unknown> {
  const [user] = await app.run((sql) =>
    sql`select email, verified, has_password from workspace.users_public where email = ${email}`
  );
  return user;
}

describe('a hook of profiles', () => {
  it('sees the email and no password, and may change the profile’s own fields', async () => {
    const email = freshEmail();
    const record = await create({ email, password: 'a password', nick: 'x' }, { nick: 'of the hook' });
    expect(record.fields).toMatchObject({ email, nick: 'of the hook' });
    const shown = { email, verified: false, last_login: null, oauth_providers: [] };
    expect(JSON.parse(JSON.stringify(asked))).toEqual([{ ...record, fields: { ...shown, nick: 'x' } }]);
    expect(JSON.stringify(asked)).not.toContain('password');
    expect(await userNamed(email)).toEqual({ email, verified: false, has_password: true });
  });

  it('may make the profile another’s, but not in a batch, where users are prepared before', async () => {
    const [email, other] = [freshEmail(), freshEmail()];
    expect((await create({ email }, { email: other })).fields).toMatchObject({ email: other });
    const more = freshEmail();
    await expect(batch({ email: more }, { email })).rejects.toMatchObject({
      code: 'validation',
      message: 'requests.0: email: cannot be changed by a hook in a batch',
    });
    expect(await userNamed(email)).toBeUndefined();
    expect(await userNamed(more)).toBeUndefined();
    const { results } = await batch({ email: more }, { nick: 'of the hook' });
    expect(asked).toMatchObject([{ fields: { email: more, nick: null } }]);
    expect(results).toMatchObject([{ body: { id: asked[0]?.id } }]);
    expect(await userNamed(more)).toEqual({ email: more, verified: false, has_password: false });
  });

  it.each([
    [{ verified: true }, 'verified: is read-only'],
    [{ last_login: '2020-01-02T03:04:05.678Z' }, 'last_login: is read-only'],
    [{ oauth_providers: ['google'] }, 'oauth_providers: is read-only'],
    [{ password_hash: 'a hash' }, 'password_hash: unknown field'],
    [{ role: 'master_admin' }, 'role: unknown field'],
  ])('mass.assignment: cannot answer %j', async (changes, message) => {
    const email = freshEmail();
    const refused = { code: 'validation', message };
    await expect(create({ email }, changes)).rejects.toMatchObject(refused);
    await expect(batch({ email }, changes)).rejects.toMatchObject({
      code: 'validation',
      message: `requests.0: ${message}`,
    });
    expect(await userNamed(email)).toBeUndefined();
    const { id } = await create({ email }, {});
    const target = await app.target('members');
    const update = { access: unboundedAccess('update', now), id, input: { nick: 'y' }, now };
    await expect(updateRecord(answering(changes), target, update)).rejects.toMatchObject(refused);
    expect(await userNamed(email)).toEqual({ email, verified: false, has_password: false });
  });
});

it('the rule of a profile knows as the body what the caller sent, not what hooks made of it', async () => {
  const email = freshEmail();
  const { app: found, collection } = await app.target('members');
  const rules = { create: { template: 'filter', filter: '@request.body.nick = null' } } as const;
  const target = { app: found, collection: { ...collection, rules } };
  const request = { now: now.getTime(), auth: null, method: 'POST', query: {} };
  const access = { action: 'create', unbounded: false, request } as const;
  const creation = { access, input: { email, password: 'a password' }, now };
  const { fields } = await createRecord(answering({ nick: 'of the hook' }), target, creation);
  expect(fields).toMatchObject({ email, nick: 'of the hook' });
});

it('a profile is shown to hooks where its caller may create it, and its user is asked for when it is there', async () => {
  const { app: found, collection } = await app.target('members');
  const rules = { create: { template: 'filter', filter: 'verified = false' } } as const;
  const target = { app: found, collection: { ...collection, rules } };
  const request = { now: now.getTime(), auth: null, method: 'POST', query: {} };
  const access = { action: 'create', unbounded: false, request } as const;
  const [fresh, verified] = [freshEmail(), freshEmail()];
  const made = await createRecord(answering({}), target, { access, input: { email: fresh }, now });
  expect(asked).toEqual([made]);
  await app.run((sql) => enrolUser(sql, { id: randomUUID(), email: verified, password_hash: null, now }));
  await app.deps.databases.workspace(found.workspace.database).run((sql) =>
    sql`update workspace.users set verified = true where email = ${verified}`
  );
  const refused = createRecord(answering({}), target, { access, input: { email: verified }, now });
  await expect(refused).rejects.toMatchObject({ code: 'unauthorized' });
  expect(asked).toEqual([]);
});

it('a user who is made because the one of the email has just gone has the password that was sent', async () => {
  const email = freshEmail();
  await app.run((sql) => enrolUser(sql, { id: randomUUID(), email, password_hash: null, now }));
  const { workspace: { database } } = await app.definition();
  const quotas: BareApp['deps']['quotas'] = {
    // After the password was looked at, and before the transaction.
    write: async (_app, _addition, work) => {
      await app.deps.databases.workspace(database).run((sql) =>
        sql`delete from workspace.users where email = ${email} and password_hash is null`
      );
      return await work();
    },
  };
  const body = { email, password: 'a password' };
  const requests = [{ method: 'POST', collection: 'members', body } as const];
  const asking = { principal: app.by.principal, now, query: {} };
  await runBatch({ ...app.deps, quotas }, await app.definition(), { requests, asking });
  expect(await userNamed(email)).toEqual({ email, verified: false, has_password: true });
});
