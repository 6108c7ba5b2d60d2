// Names that mean something to JavaScript, and addresses that can be read in two ways, on their way to a custom route.
import { beforeAll, expect, it } from 'vitest';
import { expectOk, type OwnApp, type OwnWorkspace, ownWorkspace, serverUrl } from '../../../harness/api.ts';
import { sendRaw } from '../../../harness/raw-requests.ts';

const source = `
routerAdd('GET', '/names/:__proto__/:constructor', (e) => ({
  env: [$app.env.__proto__, $app.env.constructor, $app.env.admin, Object.getPrototypeOf($app.env) === Object.prototype],
  params: [e.params.__proto__, e.params.constructor, typeof e.params.valueOf],
  query: [e.query.__proto__, e.query.constructor, typeof e.query.valueOf],
  headers: [e.request.headers.get('__proto__'), e.request.headers.get('constructor')],
  polluted: Object.keys(Object.prototype),
}));
routerAdd('GET', '/where/*', (e) => ({ app: $app.id, rest: e.params['*'], auth: e.auth }));`;

let own: OwnWorkspace;
let shop: OwnApp;
let bank: OwnApp;

beforeAll(async () => {
  own = await ownWorkspace();
  [shop, bank] = [await own.app('shop'), await own.app('bank')];
  for (const { admin, path } of [shop, bank]) {
    for (const name of ['__proto__', 'constructor']) {
      expectOk(await admin.put(`${path}/hooks/env/${name}`, { value: `the ${name}` }));
    }
    expect(expectOk(await admin.put(`${path}/hooks/a.js`, { source })).reload.errors).toEqual([]);
  }
});

/** What the request for exactly that target is answered. */
async function ask(target: string, headers: string[]): Promise<Record<string, unknown>> {
  const head = [`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close'];
  const { body } = await sendRaw(serverUrl(), `${head.join('\r\n')}\r\n\r\n`);
  return JSON.parse(body);
}

it('hook.globals: names of the language are values like any other, wherever a handler finds them', async () => {
  const target = `${shop.path}/custom/names/a/b?__proto__=c&constructor=d`;
  expect(await ask(target, ['__proto__: e', 'constructor: f'])).toEqual({
    env: ['the __proto__', 'the constructor', null, true],
    params: ['a', 'b', 'function'],
    query: ['c', 'd', 'function'],
    headers: ['e', 'f'],
    polluted: [],
  });
});

it('scope.matrix: an address that can be read in two ways leads to one app, and tells it nothing of another', async () => {
  const admin = [`Authorization: Bearer ${shop.admin.token}`];
  const apps = `/api/workspaces/${own.id}/apps`;
  const shops = (rest: string) => ({ app: 'shop', rest, auth: { app: 'shop' } });
  const forbidden = { code: 'forbidden' };
  const nowhere = { code: 'not_found' };
  const leads: [string, Record<string, unknown>][] = [
    [`${apps}/shop/custom/where/x`, shops('x')],
    [`${apps}/sh%6fp/custom/where/x`, shops('x')],
    [`${apps}/bank/custom/where/x`, forbidden],
    [`${apps}/shop/custom/../../bank/custom/where/x`, nowhere],
    [`${apps}/bank/custom/../../shop/custom/where/x`, nowhere],
    [`${apps}/shop/custom/where/../../../bank/custom/where/x`, nowhere],
    [`${apps}/shop/custom/where/%2e%2e/%2e%2e/%2e%2e/bank/custom/where/x`, nowhere],
    [`${apps}/shop/custom/where/./x`, nowhere],
    [`${apps}/shop/custom/where\\x`, nowhere],
    [`${apps}/shop/custom/where/..%2f..%2f..%2fbank/custom/where/x`, shops('../../../bank/custom/where/x')],
    [`${apps}/shop%2f..%2fbank/custom/where/x`, forbidden],
    [`${apps}/shop%2fcustom/where/x`, nowhere],
    [`${apps}/shop%00bank/custom/where/x`, forbidden],
    [`${apps}/shop;bank/custom/where/x`, forbidden],
    [`${apps}//shop/custom/where/x`, nowhere],
    [`/${apps}/shop/custom/where/x`, nowhere],
    // The absolute form, which servers have to take (RFC 9112 section 3.2.2).
    [`http://elsewhere.example${apps}/shop/custom/where/x`, shops('x')],
    [`http://elsewhere.example${apps}/bank/custom/where/x`, forbidden],
    [`http://elsewhere.example/${apps}/bank/custom/../../shop/custom/where/x`, nowhere],
  ];
  for (const [target, to] of leads) expect(await ask(target, admin), target).toMatchObject(to);
});
