// A server whose hook runners are the tenants' own: hook files say to the API whatever they like, over the real channel.
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer, type TestServer } from '../harness/server.ts';
import { unlimited } from '../harness/storefront.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const parts = ['api', 'hook-runner', 'migrations', 'storage', 'supervisor', 'package.json'];

/**
 * The runner. What a hook file returns hears every frame; nothing is said that it does not say, but for the first two
 * frames, which put a hook before creates and a route in place. `send` takes frames, `raw` bytes.
 */
const program = `
import { openDescriptor } from './descriptor.ts';
import { frameReader } from './channel.ts';
const { exit } = Deno;
const descriptor = openDescriptor(frameReader((text) => hear(JSON.parse(text)), () => exit(0)), () => exit(0));
const raw = (bytes) => void descriptor.write(bytes);
const frameOf = (text) => {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const frame = new Uint8Array(bytes.length + 4);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame.set(bytes, 4);
  return frame;
};
const send = (frame) => raw(frameOf(typeof frame === 'string' ? frame : JSON.stringify(frame)));
let handle = () => {};
const hear = (frame) => {
  if (frame.type !== 'load') return handle(frame);
  const [{ file, source }] = frame.files;
  handle = new Function('send', 'raw', 'frameOf', 'descriptor', source)(send, raw, frameOf, descriptor);
  const hooks = [{ event: 'before_create', collection: 'orders' }];
  const routes = [{ method: 'GET', path: '/x', segments: [{ kind: 'literal', value: 'x' }] }];
  send({ type: 'loaded', id: frame.id, files: [{ file, hooks, routes, jobs: [] }], errors: [] });
};
send({ type: 'ready', protocol: 1 });
`;

/** The server, and what is to be called after the last test. */
export interface HostileServer {
  server: TestServer;
  stop: () => Promise<void>;
}

/** Starts one, of a copy of the sources. */
export async function startHostileServer(): Promise<HostileServer> {
  const root = await mkdtemp(join(tmpdir(), 'bulkhead-hostile-'));
  for (const part of parts) await cp(join(project, part), join(root, part), { recursive: true });
  await symlink(join(project, 'node_modules'), join(root, 'node_modules'));
  await writeFile(join(root, 'hook-runner', 'main.ts'), program);
  const server = await startServer({ root, config: unlimited });
  return {
    server,
    stop: async () => {
      await server.stop();
      await rm(root, { recursive: true });
    },
  };
}
