// The server as JavaScript: what `npm run build` writes serves like the sources.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { startServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

it('what is built serves requests, hashes passwords and runs hooks', { timeout: 120_000 }, async () => {
  await execa('npm', ['run', 'build'], { cwd: project });
  const server = await startServer({ program: join(project, 'dist', 'supervisor', 'main.js') });
  try {
    const admin = await setUp(server.url);
    const path = await makeShop(admin);
    const source = "routerAdd('GET', '/hello', (e: RouteEvent) => ({ hello: e.query.name }));";
    const { reload, warnings } = expectOk(await admin.put(`${path}/hooks/hello.ts`, { source }));
    expect({ reload, warnings }).toEqual({ reload: { loaded: ['hello.ts'], errors: [] }, warnings: [] });
    expect(expectOk(await admin.get(`${path}/custom/hello?name=Ada`))).toEqual({ hello: 'Ada' });
    expect((await admin.get(`${path}/hooks/types`)).text).toContain('declare const $app');
  } finally {
    await server.stop();
  }
});
