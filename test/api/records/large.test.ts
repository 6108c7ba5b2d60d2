// How long records may become, by themselves and together.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnApp } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { scenario } from '../../harness/scenario.ts';

let app: OwnApp;
let records: string;
const text = 'x'.repeat(7_500_000);

beforeAll(async () => {
  const texts = ['a', 'b', 'c'].map((name) => ({ name, kind: 'text' }));
  const made = await scenario({ collections: { large: [...texts, { name: 'meta', kind: 'json' }] } });
  app = made.app;
  records = made.records('large');
});

async function make(input: Record<string, unknown> = {}): Promise<{ id: string; path: string }> {
  const { id } = expectOk(await app.admin.post(records, input));
  return { id, path: `${records}/${id}` };
}

describe('a record', () => {
  it.each([
    ['a text', text],
    ['JSON', { deep: [text] }],
  ])('that would hold more than 16 MiB with %s is refused, and stays as it was', async (_what, value) => {
    const { path, id } = await make({ a: text, meta: 'kept' });
    expectOk(await app.admin.patch(path, { b: text }));
    const before = expectOk(await app.admin.get(path));
    const name = typeof value === 'string' ? 'c' : 'meta';
    const refused = await app.admin.patch(path, { [name]: value });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe('the record would hold more than 16,777,216 characters');
    const request = { method: 'PATCH', collection: 'large', id, body: { [name]: value } };
    const other = { method: 'POST', collection: 'large', body: { meta: { of: 'a batch' } } };
    expectError(await app.admin.post(`${app.path}/batch`, { requests: [other, request] }), 400, 'validation');
    expect(expectOk(await app.admin.get(path))).toEqual(before);
    expect(expectOk(await app.admin.get(`${records}?filter=meta.of%20=%20'a batch'`)).items).toEqual([]);
    expectOk(await app.admin.patch(path, { a: null, [name]: value }));
  });
});

describe('a body', () => {
  it('of thousands of unknown members gets an error that names a hundred, each cut short', async () => {
    const names = Array.from({ length: 5_000 }, (_, n) => `${n}${'x'.repeat(1_000)}`);
    const { path } = await make();
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    for (const refused of [await app.admin.post(records, body), await app.admin.patch(path, body)]) {
      expectError(refused, 400, 'validation');
      const told = refused.body.message.split('; ');
      expect([told.length, told[0]]).toEqual([100, `${names[0]?.slice(0, 100)}: unknown field`]);
    }
  });
});

describe('a batch', () => {
  it('that would write more than 64 MiB of records is refused, and writes nothing', async () => {
    const { id, path } = await make({ a: text });
    const before = expectOk(await app.admin.get(path));
    // Each changes the record again, as one that changes nothing is not written.
    const changes = (count: number) =>
      Array.from(
        { length: count },
        (_, n) => ({ method: 'PATCH', collection: 'large', id, body: { c: `${n}` } }),
      );
    const refused = await app.admin.post(`${app.path}/batch`, { requests: changes(9) });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toContain('send fewer');
    expect(expectOk(await app.admin.get(path))).toEqual(before);
    expectOk(await app.admin.post(`${app.path}/batch`, { requests: changes(8) }));
  });
});
