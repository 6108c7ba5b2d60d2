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

it('names the line of a call that the top level of a file waits for, its own or by way of another file', async () => {
  const app = await (await ownWorkspace()).app();
  const files = {
    'a.js': `const one = 1;\nconst page = await $app.records.list('nothing');`,
    'b.js': `\nexport const get = () => fetch('https://example.com/');`,
    'c.js': `import { get } from './b.js';\n\nconst answer = await get();`,
  };
  for (const [name, source] of Object.entries(files)) {
    expectOk(await app.admin.put(`${app.path}/hooks/${name}`, { source }));
  }
  expect(expectOk(await app.admin.post(`${app.path}/hooks/reload`))).toEqual({
    loaded: ['b.js'],
    errors: [
      { file: 'a.js', message: 'AppError: collection "nothing" does not exist', line: 2, column: 33 },
      {
        file: 'c.js',
        message: 'TypeError: fetch: policy hooks.egress does not name example.com',
        line: 3,
        column: 22,
      },
    ],
  });
});
