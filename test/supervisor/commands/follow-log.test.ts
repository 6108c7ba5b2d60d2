// `bulkhead hooks logs --follow`: each new line of the hooks' log, until Ctrl-C.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { makeShop, setUp } from '../../harness/set-up.ts';

const program = fileURLToPath(new URL('../../../supervisor/main.ts', import.meta.url));
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

it('prints lines as they are written, one JSON value each', async () => {
  const master = await setUp(server.url);
  const app = await makeShop(master);
  const source =
    "routerAdd('GET', '/say/:what', (e) => { console.log(`said ${e.params.what}`); return {}; });";
  expectOk(await master.put(`${app}/hooks/say.js`, { source }));
  const following = execa(process.execPath, [program, 'hooks', 'logs', '--follow', '--json'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      XDG_CONFIG_HOME: server.dataDir,
      BULKHEAD_URL: server.url,
      BULKHEAD_TOKEN: master.token ?? '',
      BULKHEAD_WORKSPACE: 'acme',
      BULKHEAD_APP: 'shop',
    },
    ...{ extendEnv: false, all: true, buffer: false, reject: false, forceKillAfterDelay: false },
  });
  // Its stream is open at some moment that nobody is told of, so the route is asked until its lines come.
  const seen: string[] = [];
  const asking = setInterval(() => void master.get(`${app}/custom/say/${seen.length}`), 200);
  for await (const line of following.iterable({ from: 'all' })) {
    const { level, message }: { level: string; message: string } = JSON.parse(line);
    if (!message.startsWith('said ')) continue;
    expect(level).toBe('info');
    seen.push(message);
    if (seen.length === 2) following.kill('SIGINT');
  }
  clearInterval(asking);
  expect(seen.length).toBeGreaterThanOrEqual(2);
  expect(await following).toMatchObject({ signal: 'SIGINT' });
});
