// What a collection of kind `auth` is declared to be.
import { describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { nick, profileApp } from '../../harness/profiles.ts';
import { freshEmail } from '../../harness/users.ts';

const implied = [
  { name: 'email', kind: 'email', required: true, unique: true },
  { name: 'password_hash', kind: 'text' },
  { name: 'verified', kind: 'bool' },
  { name: 'last_login', kind: 'datetime' },
  { name: 'oauth_providers', kind: 'json' },
];

const store = await profileApp();
const { app, admin } = store;

describe('the definition of an auth collection', () => {
  it('lists the implied fields before its own', async () => {
    const path = `${app.path}/collections`;
    const made = expectOk(
      await admin.post(path, { schema: { id: 'defined', kind: 'auth', fields: [nick] } }),
    );
    expect(made.schema).toEqual({ id: 'defined', kind: 'auth', fields: [...implied, nick] });
    expect(expectOk(await admin.get(`${path}/defined`)).schema).toEqual(made.schema);
    const listed = expectOk(await admin.get(path)).items;
    expect(listed.map(({ schema }: { schema: { id: string } }) => schema.id)).not.toContain('users');
  });

  it('may repeat the implied fields when it is changed, and need not', async () => {
    await store.profiles('changed');
    const path = `${app.path}/collections/changed`;
    const { schema } = expectOk(await admin.get(path));
    const age = { name: 'age', kind: 'number' };
    const repeated = expectOk(await admin.patch(path, { schema: { fields: [...schema.fields, age] } }));
    expect(repeated.schema.fields).toEqual([...implied, nick, age]);
    const spelt = implied.map((field) => ({ default: null, required: false, index: false, ...field }));
    const shown = expectOk(await admin.patch(path, { schema: { fields: [...spelt, nick, age] } }));
    expect(shown.schema.fields).toEqual([...implied, nick, age]);
    const alone = expectOk(await admin.patch(`${path}?confirm=drop`, { schema: { fields: [age] } }));
    expect(alone.schema.fields).toEqual([...implied, age]);
    const record = expectOk(await admin.post(`${path}/records`, { email: freshEmail(), age: 7 }));
    expect(record.fields).toMatchObject({ age: 7, verified: false });
    expect(record.fields).not.toHaveProperty('nick');
  });

  it.each([
    ['another kind', { name: 'verified', kind: 'text' }],
    ['another setting', { name: 'email', kind: 'email', unique: false, max: 20 }],
    ['a field of its own that is hidden', { name: 'password_hash', kind: 'text', index: true }],
  ])('cannot give an implied field %s', async (_, field) => {
    const path = `${app.path}/collections`;
    const refused = await admin.post(path, { schema: { id: 'otherwise', kind: 'auth', fields: [field] } });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe(
      `schema.fields.${field.name}: is part of every auth collection and cannot be declared otherwise`,
    );
    expectError(await admin.get(`${path}/otherwise`), 404, 'not_found');
  });

  it('leaves the names free for fields of base collections', async () => {
    const fields = [{ name: 'email', kind: 'text' }, { name: 'password_hash', kind: 'text' }];
    const path = `${app.path}/collections`;
    expectOk(await admin.post(path, { schema: { id: 'plain', fields } }));
    const values = { email: 'no address', password_hash: 'shown' };
    const record = expectOk(await admin.post(`${path}/plain/records`, values));
    expect(record.fields).toEqual(values);
  });
});
