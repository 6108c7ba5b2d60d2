// The how-to pages that stop the server and start it again, or make its database: what they promise comes about.
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { ask, makeTestCluster } from '../harness/cluster.ts';
import { masterKeyOf } from '../harness/database.ts';
import { freePort } from '../harness/free-port.ts';
import { blocksOf, codesIn, follow } from '../harness/documentation-page.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { derivePassword } from '../../supervisor/master-key.ts';
import { provisionerName } from '../../supervisor/postgres/cluster.ts';

const root = join(import.meta.dirname, '../..');
const password = 'a password of the test';
let place: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'bulkhead-operator-'));
  await chmod(place, 0o711);
});
afterEach(() => rm(place, { recursive: true, force: true }));

/**
 * Commands `start_it` and `stop_it`, as a service manager has them, for the server in a data directory. It is set up and runs
 * when they are there; each stop leaves a workspace, `w1`, `w2` and so on. It ends with the shell at the latest.
 */
async function service(dataDir: string): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const script = `
url=${url} json='Content-Type: application/json' stops=0 pid=
start_it() {
  node '${root}/supervisor/main.ts' serve --set=data_dir='${dataDir}' --set=http.port=\${url##*:} > '${place}/log' 2>&1 &
  pid=$!
  until curl -sf $url/readyz; do kill -0 $pid; sleep 0.1; done
}
stop_it() {
  stops=$((stops + 1))
  session=$(curl -sX POST $url/_/auth/admin/login -H "$json" -d '{"username":"admin","password":"${password}"}')
  token=$(echo "$session" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -sX POST $url/api/workspaces -H "Authorization: Bearer $token" -H "$json" \\
    -d "{\\"id\\":\\"w$stops\\",\\"name\\":\\"Number $stops\\"}"
  end_it
}
end_it() { kill $pid; wait $pid; }
trap 'end_it || true' EXIT
start_it
curl -sX POST $url/_/setup -H "$json" -d '{"password":"${password}"}'
`;
  await writeFile(join(place, 'service.sh'), script);
  return `. '${place}/service.sh'\n`;
}

async function login({ url }: TestServer): Promise<Caller> {
  const session = await as(undefined, url).post('/_/auth/admin/login', { username: 'admin', password });
  return as(expectOk(session).access_token, url);
}

/** Several starts of a server each, beside other tests. Milliseconds. */
const slow = { timeout: 120_000 };

it(
  'docs/how-to/back-up-and-restore.md leads back to what there was, through the link that systemd makes',
  slow,
  async () => {
    await mkdir(join(place, 'private/bulkhead'), { recursive: true });
    await mkdir(join(place, 'else'));
    const dataDir = join(place, 'bulkhead');
    await symlink('private/bulkhead', dataDir);
    const printed = await follow('docs/how-to/back-up-and-restore.md', {
      before: await service(dataDir),
      instead: {
        'systemctl stop bulkhead': 'stop_it',
        'systemctl start bulkhead': 'start_it',
        '/var/lib/bulkhead': dataDir,
        '/somewhere/else': join(place, 'else'),
      },
    });
    expect(printed).toContain('"id":"w2"');
    const server = await startServer({ dataDir });
    try {
      const { items } = expectOk(await (await login(server)).get('/api/workspaces'));
      expect(items.map(({ id }: { id: string }) => id)).toEqual(['w1']);
    } finally {
      await server.stop();
    }
  },
);

it('docs/how-to/start-over.md leads to a server that waits for its setup', slow, async () => {
  const printed = await follow('docs/how-to/start-over.md', {
    before: await service('data'),
    instead: { 'rm -rf data': 'stop_it\nrm -rf data\nstart_it\ncurl -s $url/healthz' },
  });
  expect(printed).toContain('{"initialized":true}');
  expect(printed.trimEnd().split('\n').at(-1)).toBe('{"initialized":false}');
});

it(
  'docs/how-to/use-in-ci.md leads to an app on a server that goes, with all it kept, when the script ends',
  slow,
  async () => {
    const printed = await follow('docs/how-to/use-in-ci.md', { before: `export TMPDIR='${place}'\n` });
    expect(codesIn(printed)).toEqual([]);
    expect(printed).toContain('{"id":"app","workspace":"ci","name":"App"');
    expect(await readdir(place)).toEqual([]);
  },
);

it('docs/how-to/external-postgresql.md makes all that a server needs', slow, async () => {
  const page = blocksOf(await readFile(join(root, 'docs/how-to/external-postgresql.md'), 'utf8'));
  // Here the names of the page are taken, the administrator is no superuser, and the way in is a Unix socket.
  const textOf = (kind: string) =>
    page.find((block) => block.kind === kind)?.text.replaceAll('bulkhead', 'operator') ?? '';
  const [role = '', ...others] = textOf('sql').replace('…', password).split(/;\n/).slice(0, -1);
  const lines = textOf('conf').replaceAll(/^hostssl (.*)<.*>\/32/gm, 'local $1');
  const cluster = await makeTestCluster();
  try {
    const external = await cluster.prepare();
    await external.start();
    await ask(external, role);
    await ask(external, 'grant operator to current_user');
    for (const statement of others) await ask(external, statement);
    const file = join(cluster.dir, 'postgresql/pg_hba.conf');
    await writeFile(file, lines + await readFile(file, 'utf8'));
    // The postmaster alone: a backend that has just begun would die of it.
    const note = await readFile(join(cluster.dir, 'postgresql/data/postmaster.pid'), 'utf8');
    process.kill(Number.parseInt(note), 'SIGHUP');
    const host = encodeURIComponent(external.access.host);
    const url = `postgres://operator:${encodeURIComponent(password)}@/operator?host=${host}`;
    const server = await startServer({ config: { database: { url } } });
    expectOk(await as(undefined, server.url).post('/_/setup', { password }));
    expectOk(await (await login(server)).post('/api/workspaces', { id: 'acme', name: 'Acme' }));
    await server.stop();
  } finally {
    await cluster.remove();
  }
});

it(
  'a cluster that moved as docs/how-to/external-postgresql.md says serves what was there',
  slow,
  async () => {
    const dataDir = join(place, 'data');
    const first = await startServer({ dataDir });
    expectOk(await as(undefined, first.url).post('/_/setup', { password }));
    expectOk(await (await login(first)).post('/api/workspaces', { id: 'acme', name: 'Acme' }));
    await first.stop();
    const cluster = await makeTestCluster();
    try {
      await rename(join(dataDir, 'postgresql'), join(cluster.dir, 'postgresql'));
      const external = await cluster.prepare({
        password: derivePassword(masterKeyOf(dataDir), provisionerName),
      });
      await external.start();
      await ask(external, "alter role bulkhead password 'another'");
      const url = `postgres://bulkhead:another@/bulkhead?host=${encodeURIComponent(external.access.host)}`;
      const server = await startServer({ dataDir, config: { database: { url } } });
      const master = await login(server);
      expectOk(await master.get('/api/workspaces/acme'));
      expectOk(await master.post('/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
      await server.stop();
      expect(server.output.filter((line) => line.includes('is not used'))).toEqual([]);
    } finally {
      await cluster.remove();
    }
  },
);
