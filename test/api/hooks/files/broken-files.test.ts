// Hook files that do not load: what they are told, and what goes on without them.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { scenario } from '../../../harness/scenario.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

/** An app with a collection `orders` and half a second for its hooks. */
async function newApp(): Promise<OwnApp & { records: string }> {
  const orders = [{ name: 'title', kind: 'text' }];
  const { app, records } = await scenario({ workspace: own, collections: { orders } });
  expectOk(
    await app.admin.put(`${app.path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 1_000 }),
  );
  return { ...app, records: records('orders') };
}

describe('a hook file that does not load', () => {
  it.each([
    ['waits for ever', 'await new Promise(() => {});'],
    ['loops for ever', 'for (;;);'],
    [
      'waits for a promise that is never kept, after it has registered',
      `
      onRecordBeforeCreate('orders', () => { throw new Error('half loaded'); });
      await new Promise(() => {});`,
    ],
    ['throws', 'throw new Error("no");'],
    ['does not compile', 'const = 1;'],
    ['ends the process', 'Deno.exit(1);'],
  ])('as the first one, and %s: is a fault of its own, and writes go on', async (_, source) => {
    const { admin, path, records } = await newApp();
    const put = expectOk(await admin.put(`${path}/hooks/bad.js`, { source }));
    expect(put.reload).toEqual({ loaded: [], errors: [expect.objectContaining({ file: 'bad.js' })] });
    expectOk(await admin.post(records, { title: 'first' }));
    expectOk(await admin.put(`${path}/hooks/bad.js`, { source: 'routerAdd("GET", "/x", () => 1);' }));
    expect((await admin.get(`${path}/custom/x`)).body).toBe(1);
  });

  it.each([
    ['waits for ever', 'await new Promise(() => {});'],
    ['loops for ever', 'for (;;);'],
  ])('beside one that does, and %s: leaves the other in effect', async (_, source) => {
    const { admin, path, records } = await newApp();
    const good = `onRecordBeforeCreate('orders', (e) => { e.record.fields.title = 'hooked'; });`;
    expectOk(await admin.put(`${path}/hooks/good.js`, { source: good }));
    const put = expectOk(await admin.put(`${path}/hooks/bad.js`, { source }));
    expect(put.reload).toEqual({
      loaded: ['good.js'],
      errors: [expect.objectContaining({ file: 'bad.js' })],
    });
    expect(expectOk(await admin.post(records, { title: 'x' })).fields.title).toBe('hooked');
  });

  it('hook.imports: says so for every import of what is no file of its app, and the others stay loaded', async () => {
    const { admin, path } = await newApp();
    expectOk(await admin.put(`${path}/hooks/own.js`, { source: 'export const answer = 42;' }));
    const user = `import { answer } from './own.js'; routerAdd('GET', '/answer', () => answer);`;
    expect(expectOk(await admin.put(`${path}/hooks/user.js`, { source: user })).reload.errors).toEqual([]);
    const imported = [
      'file:///etc/passwd',
      '/etc/passwd',
      '../../other/a.js',
      './missing.js',
      'https://deno.land/x/a.ts',
      'npm:left-pad',
      'jsr:@std/path',
      'node:fs',
      'fs',
      'data:text/javascript,export default 1',
      'blob:null/x',
      'ext:core/ops',
    ];
    for (const specifier of imported) {
      for (
        const source of [
          `import ${JSON.stringify(specifier)};`,
          `await import(${JSON.stringify(specifier)});`,
        ]
      ) {
        const { reload } = expectOk(await admin.put(`${path}/hooks/z.js`, { source }));
        expect([source, reload.loaded]).toEqual([source, ['own.js', 'user.js']]);
        expect(reload.errors).toEqual([
          expect.objectContaining({ file: 'z.js', message: expect.stringContaining(specifier.slice(0, 20)) }),
        ]);
        expect(reload.errors[0].message).not.toContain('hook-runner');
      }
    }
    expect((await as().get(`${path}/custom/answer`)).body).toBe(42);
    expect(expectOk(await admin.get(`${path}/hooks/status`)).last_kill).toBeNull();
  });
});
