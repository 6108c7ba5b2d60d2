// A server with another database driver than the one that its patches are for: it starts, and says so.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { startServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const driverSource = join('node_modules', 'postgres', 'src', 'connection.js');

/** Copies the program and its driver to a folder; every other package is a link to where it is. */
async function copyProgram(to: string): Promise<void> {
  for (const name of ['package.json', 'api', 'hook-runner', 'migrations', 'storage', 'supervisor']) {
    await cp(join(project, name), join(to, name), { recursive: true });
  }
  await mkdir(join(to, 'node_modules'));
  for (const name of await readdir(join(project, 'node_modules'))) {
    const [from, copy] = [join(project, 'node_modules', name), join(to, 'node_modules', name)];
    if (name === 'postgres') await cp(from, copy, { recursive: true });
    else await symlink(from, copy);
  }
}

it('starts with the driver as it is, warns once, and serves', { timeout: 120_000 }, async () => {
  const root = await mkdtemp(join(tmpdir(), 'bulkhead-driver-'));
  await copyProgram(root);
  const source = await readFile(join(root, driverSource), 'utf8');
  await writeFile(
    join(root, driverSource),
    source.replaceAll('errorResponse = null', 'errorResponse  =  null'),
  );
  const server = await startServer({ root, config: { 'api.workers': 2 } });
  try {
    const warnings = server.output.filter((line) => line.includes('driver_unpatched'));
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', type: 'driver_unpatched', files: ['connection.js'] },
    ]);
    const admin = await setUp(server.url);
    const path = await makeShop(admin);
    expectOk(await admin.get(path));
  } finally {
    await server.stop();
    await rm(root, { recursive: true, force: true });
  }
});
