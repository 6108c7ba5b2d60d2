// Changes of a collection under load: its declaration and its columns always agree.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk, ownWorkspace } from '../../../harness/api.ts';

let admin: Caller;
let collections: string;

beforeAll(async () => {
  const workspace = await ownWorkspace();
  const app = await workspace.app();
  admin = app.admin;
  collections = `${app.path}/collections`;
});

const base = { name: 'base', kind: 'text' };

/** Statuses that a caller can act on; nothing else may come of a race. */
const expected = new Set([200, 201, 400, 404, 409, 503]);

function refuseOthers(responses: readonly ApiResponse[]): void {
  const others = responses.filter(({ status }) => !expected.has(status));
  expect(others.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
}

/** A record with a value of its own for every declared field shows that each has its column. */
async function expectColumnsAsDeclared(path: string): Promise<void> {
  const { schema } = expectOk(await admin.get(path));
  const names: string[] = schema.fields.map((field: { name: string }) => field.name);
  const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  const stored = expectOk(await admin.post(`${path}/records`, values));
  expect(stored.fields).toEqual(values);
  expect(expectOk(await admin.get(`${path}/records/${stored.id}`)).fields).toEqual(values);
}

describe('a collection that everybody changes at once', () => {
  it('schema.ddl-race: 20 parallel changes and writes end without a 500, columns as declared', async () => {
    for (let round = 0; round < 5; round++) {
      const path = `${collections}/race_${round}`;
      expectOk(await admin.post(collections, { schema: { id: `race_${round}`, fields: [base] } }));
      const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => {
        const fields = [base, { name: `f${n}`, kind: 'text', index: n % 2 === 0 }];
        if (n % 2 === 0) return admin.patch(`${path}?confirm=drop`, { schema: { fields } });
        return admin.post(`${path}/records`, { base: String(n) });
      }));
      refuseOthers(responses);
      const patched = responses.filter(({ status }, n) => n % 2 === 0 && status === 200);
      expect(patched.length).toBeGreaterThan(0);
      await expectColumnsAsDeclared(path);
      const { version, ...rest } = expectOk(await admin.get(path)).schema;
      expect(version).toBeUndefined();
      expect(patched.map(({ body }) => body.schema)).toContainEqual(rest);
    }
  });

  it('schema.ddl-race: deletes, creates, changes and writes in parallel leave a whole collection or none', async () => {
    for (let round = 0; round < 5; round++) {
      const id = `flux_${round}`;
      const path = `${collections}/${id}`;
      expectOk(await admin.post(collections, { schema: { id, fields: [base] } }));
      const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => {
        const other = { name: 'base', kind: n % 8 < 4 ? 'number' : 'text' };
        switch (n % 4) {
          case 0:
            return admin.delete(path);
          case 1:
            return admin.post(collections, { schema: { id, fields: [other] } });
          case 2:
            return admin.patch(`${path}?confirm=drop`, {
              schema: { fields: [base, { name: `f${n}`, kind: 'text' }] },
            });
          default:
            return admin.post(`${path}/records`, { base: String(n) });
        }
      }));
      refuseOthers(responses);
      const left = await admin.get(path);
      if (left.status === 200 && left.body.schema.fields[0].kind === 'text') {
        await expectColumnsAsDeclared(path);
      }
      if (left.status === 200) expectOk(await admin.delete(path));
      expectOk(await admin.post(collections, { schema: { id, fields: [base] } }));
      await expectColumnsAsDeclared(path);
    }
  });

  it('schema.ddl-race: two collections that point to each other are changed and written without a 500', async () => {
    for (const id of ['left', 'right']) {
      expectOk(await admin.post(collections, { schema: { id, fields: [base] } }));
    }
    const relation = (target: string, required: boolean) => ({
      name: 'to',
      kind: 'relation',
      target,
      required,
    });
    const responses = await Promise.all(Array.from({ length: 24 }, async (_, n) => {
      const [own, other] = n % 2 === 0 ? ['left', 'right'] : ['right', 'left'];
      if (n % 3 > 0) return await admin.post(`${collections}/${own}/records`, { base: 'x' });
      const fields = [base, ...(n % 4 < 2 ? [relation(other, n % 4 === 0)] : [])];
      return await admin.patch(`${collections}/${own}?confirm=drop`, { schema: { fields } });
    }));
    refuseOthers(responses);
    for (const id of ['left', 'right']) expectOk(await admin.get(`${collections}/${id}/records`));
  });

  it('is seen as it is by the very next request', async () => {
    const path = `${collections}/next`;
    expectOk(await admin.post(collections, { schema: { id: 'next', fields: [base] } }));
    for (let n = 0; n < 10; n++) {
      const name = `f${n}`;
      expectOk(
        await admin.patch(`${path}?confirm=drop`, { schema: { fields: [base, { name, kind: 'number' }] } }),
      );
      const made = await Promise.all(
        Array.from({ length: 8 }, () => admin.post(`${path}/records`, { [name]: n })),
      );
      for (const response of made) expect(expectOk(response).fields).toEqual({ base: null, [name]: n });
    }
  });

  it('may get a field back as another kind, for connections that have prepared the old one', async () => {
    const path = `${collections}/reborn`;
    expectOk(await admin.post(collections, { schema: { id: 'reborn', fields: [base] } }));
    const values = {
      text: 'x',
      number: 1.5,
      bool: true,
      json: { a: 1 },
      datetime: '2026-01-02T03:04:05.000Z',
    };
    for (const [kind, value] of Object.entries(values)) {
      expectOk(await admin.patch(`${path}?confirm=drop`, { schema: { fields: [base] } }));
      expectOk(await admin.patch(path, { schema: { fields: [base, { name: 'v', kind }] } }));
      const made = await Promise.all(
        Array.from({ length: 12 }, () => admin.post(`${path}/records`, { v: value })),
      );
      for (const response of made) expect(expectOk(response).fields.v).toEqual(value);
    }
    expectOk(await admin.delete(path));
    expectOk(
      await admin.post(collections, { schema: { id: 'reborn', fields: [{ name: 'base', kind: 'number' }] } }),
    );
    const again = await Promise.all(
      Array.from({ length: 12 }, () => admin.post(`${path}/records`, { base: 7 })),
    );
    for (const response of again) expect(expectOk(response).fields).toEqual({ base: 7 });
    const reads = await Promise.all(again.map(({ body }) => admin.get(`${path}/records/${body.id}`)));
    for (const response of reads) expect(expectOk(response).fields).toEqual({ base: 7 });
  });
});
