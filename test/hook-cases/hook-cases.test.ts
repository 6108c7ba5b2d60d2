// Every folder here holds a hook that misbehaves, and how the write that it was called for is to end.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../harness/api.ts';

const cases = (await readdir(import.meta.dirname, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const timeout = 1_500;
/** The caller hears by the deadline and half a second; this machine may be busy with other tests. */
const patience = timeout + 500 + 1_500;

interface Expected {
  /** Of a file that is left out: what its `PUT` says of it, as a regular expression. */
  fault?: string;
  status: number | number[];
  code?: string | string[];
}

describe('a hook that misbehaves', () => {
  let own: OwnWorkspace;
  /** Milliseconds that the write after it took. */
  const waits = new Map<string, number>();
  beforeAll(async () => {
    own = await ownWorkspace();
  });
  afterAll(() => console.log('the next write took', Object.fromEntries(waits), 'ms'));

  it.each(cases)('hook.%s: ends its own write, and nothing else', async (name) => {
    const file = (part: string) => readFile(join(import.meta.dirname, name, part), 'utf8');
    const expected: Expected = JSON.parse(await file('expected.json'));
    const { admin, path } = await own.app();
    const fields = [{ name: 'title', kind: 'text' }, { name: 'meta', kind: 'json' }];
    expectOk(await admin.post(`${path}/collections`, { schema: { id: 'orders', kind: 'base', fields } }));
    expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: timeout }));
    const put = expectOk(await admin.put(`${path}/hooks/hook.js`, { source: await file('hook.js') }));
    const { fault } = expected;
    if (fault === undefined) expect(put.reload).toEqual({ loaded: ['hook.js'], errors: [] });
    else {
      const error = { file: 'hook.js', message: expect.stringMatching(fault), line: null, column: null };
      expect(put.reload).toEqual({ loaded: [], errors: [error] });
    }

    const records = `${path}/collections/orders/records`;
    const began = performance.now();
    const response = await admin.post(records, { title: 'go' });
    expect(performance.now() - began).toBeLessThan(patience);
    expect([expected.status].flat()).toContain(response.status === 201 ? 200 : response.status);
    if (expected.code !== undefined) expect([expected.code].flat()).toContain(response.body.code);

    const ended = performance.now();
    expectOk(await admin.post(records, { title: 'next' }));
    waits.set(name, Math.round(performance.now() - ended));
    const titles = expectOk(await admin.get(`${records}?sort=created_at`)).items
      .map(({ fields }: { fields: { title: string } }) => fields.title);
    expect(titles).toEqual(expected.code === undefined ? ['go', 'next'] : ['next']);
  });
});
