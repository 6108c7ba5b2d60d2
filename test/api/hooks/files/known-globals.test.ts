// The names that the type checker of a PUT knows: those that hook files find, and hardly others.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk, type OwnApp } from '../../../harness/api.ts';
import { checkingServer, putChecked } from '../../../harness/checked-hook.ts';

let app: OwnApp;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ app, stop } = await checkingServer());
});
afterAll(() => stop());

/** Deno declares these together with what hooks do have. */
const declaredBeside = [
  ...['DOMMatrix', 'DOMMatrixReadOnly', 'DOMPoint', 'DOMPointReadOnly', 'DOMQuad', 'DOMRect'],
  ...['DOMRectReadOnly', 'EventSource', 'FileReader', 'ImageData', 'MessageChannel', 'MessageEvent'],
  ...['MessagePort', 'ProgressEvent', 'reportError'],
];

/** All names that a program of Deno's has, and those that authors know from elsewhere. */
function names(): string[] {
  const print = 'console.log(Object.getOwnPropertyNames(globalThis).join())';
  const { stdout } = spawnSync('deno', ['eval', print], { encoding: 'utf8', timeout: 60_000 });
  const found = stdout.trim().split(',').filter((name) => /^[A-Za-z$_][\w$]*$/.test(name));
  const others = [
    'window',
    'document',
    'require',
    'module',
    '__dirname',
    'XMLHttpRequest',
    '$app',
    'cronAdd',
    'HttpError',
    'FieldError',
  ];
  return [...new Set([...found, ...others])];
}

it('are the same, so that an author is warned of a name that would not be there', async () => {
  const all = names();
  expect(all).toEqual(expect.arrayContaining(['Deno', 'process', 'Buffer', 'window', 'localStorage', 'Map']));
  const unknown: string[] = [];
  // No more at once than warnings are answered.
  for (let at = 0; at < all.length; at += 90) {
    const uses = all.slice(at, at + 90).map((name) => `void ${name};\n`).join('');
    const { warnings } = await putChecked(app, 'names.ts', uses);
    for (const { message } of warnings) {
      unknown.push(/Cannot find name '(.+?)'/.exec(message)?.[1] ?? message);
    }
  }
  const source = `routerAdd('POST', '/lacks', async ({ request }) =>
    (await request.json()).names.filter((name: string) => !(name in globalThis)));`;
  expect((await putChecked(app, 'names.ts', source)).warnings).toEqual([]);
  const lacking: string[] = expectOk(await app.admin.post(`${app.path}/custom/lacks`, { names: all }));
  expect(unknown.sort()).toEqual(lacking.filter((name) => !declaredBeside.includes(name)).sort());
}, 300_000);

/** The objects of ECMAScript that grow with each edition. */
const growing = [
  ...[
    'Array',
    'ArrayBuffer',
    'Atomics',
    'BigInt',
    'Intl',
    'Iterator',
    'JSON',
    'Map',
    'Math',
    'Number',
    'Object',
  ],
  ...['Promise', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'Uint8Array', 'WeakMap'],
];

it('have the members that they have there, so that nobody is warned of what works', async () => {
  const source = `routerAdd('POST', '/members', async ({ request }) =>
    (await request.json()).names.flatMap((name: string) =>
      Object.getOwnPropertyNames(Reflect.get(globalThis, name)).map((member) => name + '.' + member)
    ));`;
  expect((await putChecked(app, 'members.ts', source)).warnings).toEqual([]);
  const members: string[] = expectOk(await app.admin.post(`${app.path}/custom/members`, { names: growing }));
  const usable = members.filter((name) =>
    /^\w+\.[a-z]\w*$/.test(name) && !/\.(arguments|caller)$/.test(name)
  );
  expect(usable).toEqual(expect.arrayContaining(['Math.sumPrecise', 'Map.groupBy', 'JSON.parse']));
  const unknown: string[] = [];
  for (let at = 0; at < usable.length; at += 90) {
    const uses = usable.slice(at, at + 90).map((name) =>
      `export const of${name.replace('.', '')} = () => ${name};\n`
    );
    const { warnings } = await putChecked(app, 'uses.ts', uses.join(''));
    unknown.push(...warnings.map(({ message }: { message: string }) => message));
  }
  expect(unknown).toEqual([]);
}, 300_000);
