// What lies around while attempts are made, and whether any of it was touched.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bait } from './attempts/attempt.ts';

/** In every file, variable and record that is to be kept from hook code. */
export const secret = `BAITED-${randomUUID()}`;

/** What is of the machine or of others: found in what hook code got hold of, a wall is broken. */
const tells = [secret, 'root:x:0:0', ...(hostname().length > 5 ? [hostname()] : [])];

/** The parts of a text that hook code must never see. */
export function leaksIn(text: string): string[] {
  return tells.filter((tell) => text.includes(tell));
}

/** Bait that is laid out. */
export interface Laid {
  bait: Omit<Bait, keyof Others>;
  /** What was done that leaves a trace: connections, files, a dead process. */
  touched: () => Promise<string[]>;
  remove: () => Promise<void>;
}

async function layFiles(dir: string, sink: string): Promise<void> {
  await mkdir(join(dir, 'hooks'));
  await mkdir(join(dir, 'node_modules', 'pkg'), { recursive: true });
  await mkdir(sink);
  const files: Record<string, string> = {
    'secret.txt': secret,
    'secret.js': `export default ${JSON.stringify(secret)};`,
    'secret.cjs': `module.exports = ${JSON.stringify(secret)};`,
    'secret.json': JSON.stringify({ value: secret }),
    '.env': `BAIT=${secret}`,
    'native.node': secret,
    'node_modules/pkg/index.js': `module.exports = ${JSON.stringify(secret)};`,
    'node_modules/pkg/package.json': JSON.stringify({ name: 'pkg', main: 'index.js', secret }),
    'hooks/own.js': `// ${secret}`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  await symlink(join(dir, 'secret.txt'), join(dir, 'hooks', 'link.txt'));
  await symlink(join(dir, 'secret.js'), join(dir, 'hooks', 'link.js'));
  await symlink(dir, join(dir, 'hooks', 'linked'));
  await symlink('/proc/self/environ', join(dir, 'hooks', 'environ'));
  await chmod(dir, 0o755);
  await chmod(sink, 0o777);
}

/** What there is of another app. */
export type Others = Pick<Bait, 'OTHER' | 'RECORD' | 'FILE' | 'APP'>;

/** Where there is no other app. */
export const noOthers: Others = { OTHER: '/nowhere', RECORD: '', FILE: '', APP: '' };

/** Lays it out. */
export async function layBait(): Promise<Laid> {
  const DIR = await mkdtemp(join(tmpdir(), 'bulkhead-bait-'));
  const SINK = join(DIR, 'sink');
  await layFiles(DIR, SINK);
  const reached: string[] = [];
  const notes = (what: string) => () => void reached.push(what);
  const give = (socket: Socket) => socket.on('error', () => 'its other end may die at any time').end(secret);
  const tcp = createServer(give).on('connection', notes('a connection'));
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port: PORT } = tcp.address() as AddressInfo;
  const path = join(DIR, 'sock');
  const local = createServer(give).on('connection', notes('a local connection')).listen(path);
  await once(local, 'listening');
  await chmod(path, 0o777);
  const udp = createSocket('udp4').on('message', notes('a datagram')).bind(PORT, '127.0.0.1');
  await once(udp, 'listening');
  const victim = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
  victim.on('exit', notes('the end of a process'));
  process.env['BAIT'] = secret;
  return {
    bait: { DIR, SINK, PORT, VICTIM: victim.pid ?? 0 },
    touched: async () => [...reached, ...await readdir(SINK)],
    remove: async () => {
      delete process.env['BAIT'];
      victim.removeAllListeners().kill('SIGKILL');
      tcp.close();
      local.close();
      udp.close();
      await rm(DIR, { recursive: true });
    },
  };
}
