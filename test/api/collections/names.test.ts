// Names of collections and fields: whatever is not refused comes back as it was sent, in its own table.
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, ownWorkspace } from '../../harness/api.ts';

let admin: Caller;
let collections: string;

beforeAll(async () => {
  const workspace = await ownWorkspace();
  const app = await workspace.app();
  admin = app.admin;
  collections = `${app.path}/collections`;
});

const reserved = [
  '_collections',
  '_access_rules',
  '_files',
  '_email_verifications',
  '_password_resets',
  '_email_otps',
  '_oauth_states',
  '_oauth_links',
  '_oauth_providers',
  'users',
  'master_admins',
  'workspace_admins',
  'audit_log',
  'policies',
];

/** Spellings that a careless comparison, a trim or a Unicode normalisation would take for the name. */
function variants(name: string): string[] {
  const wide = [...name].map((letter) =>
    /[a-z]/.test(letter) ? String.fromCodePoint(letter.charCodeAt(0) + 0xfee0) : letter
  );
  return [
    name,
    name.toUpperCase(),
    name.charAt(0).toUpperCase() + name.slice(1),
    ` ${name}`,
    `${name} `,
    `${name}\n`,
    `${name}\u200b`,
    `"${name}"`,
    `public.${name}`,
    name.replace('s', 'ſ'),
    wide.join(''),
  ];
}

describe('names', () => {
  it.each(reserved)('reserved.names: %s is refused in every spelling', async (name) => {
    for (const id of variants(name)) {
      const response = await admin.post(collections, { schema: { id, fields: [] } });
      expect(response.status, id).toBe(400);
      expect(response.body.code).toBe('validation');
      expect(response.body.message).toContain('schema.id');
    }
    expect((await admin.get(`${collections}/${name}`)).status).toBe(404);
  });

  it('reserved.names: fields of every record are refused', async () => {
    for (
      const name of [
        'id',
        'created_at',
        'updated_at',
        'collection',
        'password',
        'ID',
        'Password',
        '__proto__',
      ]
    ) {
      const response = await admin.post(collections, {
        schema: { id: 'x', fields: [{ name, kind: 'text' }] },
      });
      expect(response.status, name).toBe(400);
      expect(response.body.message).toContain('schema.fields.0.name');
    }
  });

  it('of SQL and of JavaScript are names like any other', async () => {
    const names = [
      'select',
      'table',
      'from',
      'User',
      'constructor',
      'toString',
      'hasOwnProperty',
      'a',
      'A',
      'order',
    ];
    const fields = names.map((name) => ({ name, kind: 'text' }));
    for (const id of ['select', 'table', 'constructor', 'Order', 'order']) {
      expectOk(await admin.post(collections, { schema: { id, fields } }));
      const empty = expectOk(await admin.post(`${collections}/${id}/records`, {}));
      expect(empty.fields).toEqual(Object.fromEntries(names.map((name) => [name, null])));
      const values = Object.fromEntries(names.map((name) => [name, `${id}.${name}`]));
      expect(expectOk(await admin.post(`${collections}/${id}/records`, values)).fields).toEqual(values);
      const sorted = expectOk(await admin.get(`${collections}/${id}/records?sort=-constructor,select`));
      expect(sorted.items).toHaveLength(2);
      expectOk(await admin.delete(`${collections}/${id}`));
    }
  });

  it('ident.quote-property: any text as a name comes back as it was, or is 400, and touches no other table', async () => {
    expectOk(
      await admin.post(collections, { schema: { id: 'witness', fields: [{ name: 'v', kind: 'text' }] } }),
    );
    const witness = expectOk(await admin.post(`${collections}/witness/records`, { v: 'untouched' }));
    const legal = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
    const taken = new Set(reserved);
    const fieldTaken = /^(id|created_at|updated_at|collection|password|ctid)$/i;
    await fc.assert(
      fc.asyncProperty(name(), name(), async (id, field) => {
        const declared = { id, fields: [{ name: field, kind: 'text' }] };
        const response = await admin.post(collections, { schema: declared });
        const acceptable = legal.test(id) && legal.test(field) && id !== 'witness' &&
          !taken.has(id.toLowerCase()) && !fieldTaken.test(field);
        if (!acceptable) {
          expect([400, 409]).toContain(response.status);
          return;
        }
        expect(response.status, response.text).toBe(201);
        expect(response.body.schema).toEqual({ kind: 'base', ...declared });
        const record = expectOk(await admin.post(`${collections}/${id}/records`, { [field]: field }));
        expect(record).toMatchObject({ collection: id, fields: { [field]: field } });
        expectOk(await admin.delete(`${collections}/${id}`));
      }),
      { numRuns: 150 },
    );
    expect(expectOk(await admin.get(`${collections}/witness/records`)).items).toEqual([witness]);
    expect(expectOk(await admin.get(collections)).total_items).toBe(1);
  });
});

/** Any code points, lone surrogates too; `fc.string` would first make tables for seconds, and idle connections end. */
const anyText = fc.array(fc.nat(0x10ffff), { maxLength: 70 }).map((points) =>
  String.fromCodePoint(...points)
);

/** Texts around the edge of what is legal: plain names, SQL, quotes, escapes, 62 to 64 characters, any Unicode. */
function name(): fc.Arbitrary<string> {
  const plain = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,12}$/);
  const long = fc.integer({ min: 61, max: 65 }).map((length) => 'n'.repeat(length));
  const hostile = fc.constantFrom(
    '"',
    'a"; drop table witness; --',
    "a'",
    'a\\',
    'a.b',
    'witness"',
    '$1',
    'a\u0000b',
    'é',
    'a b',
    '\ud800',
    '',
    'WITNESS',
    'ctid',
    'pg_class',
    '_p_x',
  );
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    long,
    hostile,
    anyText,
  );
}
