// What the log says of a call that the API refuses: where in the author's files it was made.
import { expect, it } from 'vitest';
import { as, expectOk, ownWorkspace } from '../../harness/api.ts';

const source = `
async function save() {
  await $app.records.create('nothing', {});
}
routerAdd('GET', '/call', async () => {
  await save();
});
routerAdd('GET', '/fetch', async () => {
  await fetch('https://example.com/', { method: 'POST', body: 'x' });
});
`;

it('names file, line and column of the call, and how it came to it', async () => {
  const app = await (await ownWorkspace()).app();
  expectOk(await app.admin.put(`${app.path}/hooks/calls.ts`, { source }));
  const lineOf = async (path: string) => {
    await as().get(`${app.path}/custom${path}`);
    return expectOk(await app.admin.get(`${app.path}/hooks/logs`)).items[0];
  };
  expect(await lineOf('/call')).toMatchObject({
    message: 'AppError: collection "nothing" does not exist',
    file: 'calls.ts',
    fields: {
      line: 3,
      column: 22,
      stack: expect.stringMatching(/^at save \(calls\.ts:3:22\)\nat .*calls\.ts:6:9/),
    },
  });
  expect(await lineOf('/fetch')).toMatchObject({
    message: 'TypeError: fetch: policy hooks.egress does not name example.com',
    file: 'calls.ts',
    fields: { line: 9 },
  });
});
