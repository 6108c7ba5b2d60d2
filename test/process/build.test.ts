// The server as JavaScript: what `npm run build` writes serves like the sources.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { as, expectOk, send } from '../harness/api.ts';
import { startServer } from '../harness/server.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const json = { 'Content-Type': 'application/json' };
const password = 'a password of the test';

it('what is built serves requests, hashes passwords and runs hooks', { timeout: 120_000 }, async () => {
  await execa('npm', ['run', 'build'], { cwd: project });
  const server = await startServer({ program: join(project, 'dist', 'supervisor', 'main.js') });
  try {
    expectOk(await send(`${server.url}/_/setup`, { method: 'POST', body: { password }, headers: json }));
    const credentials = { username: 'admin', password };
    const { access_token } = expectOk(
      await as(undefined, server.url).post('/_/auth/admin/login', credentials),
    );
    const admin = as(access_token, server.url);
    expectOk(await admin.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
    expectOk(await admin.post('/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
    const path = '/api/workspaces/acme/apps/shop';
    const source = "routerAdd('GET', '/hello', (e: CustomRouteEvent) => ({ hello: e.query.name }));";
    const { reload } = expectOk(await admin.put(`${path}/hooks/hello.ts`, { source }));
    expect(reload).toEqual({ loaded: ['hello.ts'], errors: [] });
    expect(expectOk(await admin.get(`${path}/custom/hello?name=Ada`))).toEqual({ hello: 'Ada' });
    expect((await admin.get(`${path}/hooks/types`)).text).toContain('declare const $app');
  } finally {
    await server.stop();
  }
});
