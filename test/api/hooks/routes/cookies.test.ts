// Cookies that custom routes set: a browser may send them to nobody but the app.
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, ownWorkspace } from '../../../harness/api.ts';

let app: OwnApp;

beforeAll(async () => {
  app = await (await ownWorkspace()).app();
  const source = `routerAdd('POST', '/cookie', async (e) => {
    const { cookies } = await e.request.json();
    return new Response('x', { headers: cookies.map((cookie) => ['set-cookie', cookie]) });
  });`;
  expect(expectOk(await app.admin.put(`${app.path}/hooks/a.js`, { source })).reload.errors).toEqual([]);
});

async function setBy(...cookies: string[]): Promise<string[]> {
  const response = await as().post(`${app.path}/custom/cookie`, { cookies });
  return response.headers.getSetCookie();
}

it('hook.custom-route: cookies of a response come back to the routes of its app alone', async () => {
  const home = `${app.path}/custom`;
  const elsewhere = [
    ...[
      '',
      '; Path=/',
      '; path = /_/ ',
      ';PATH=/api/workspaces',
      `; Path=${home}er`,
      `; Path=${home}/a; Path=/`,
    ],
    ...[
      '; Path',
      '; Path=',
      '; Domain=example.com',
      '; Domain=.localhost; Path=/',
      ';\u00a0Path=/',
      ';\tPath=/',
    ],
  ];
  for (const attributes of elsewhere) {
    const set = await setBy(`c=1; Secure${attributes}; HttpOnly`);
    expect([attributes, set]).toEqual([attributes, [`c=1; Secure; HttpOnly; Path=${home}`]]);
  }
  expect(await setBy(`c=1; Path=/; Path=${home}/cart`)).toEqual([`c=1; Path=${home}/cart`]);
  expect(await setBy('a=1; Max-Age=5', 'svc_at=x; Path=/', 'b'))
    .toEqual([`a=1; Max-Age=5; Path=${home}`, `b; Path=${home}`]);
});
