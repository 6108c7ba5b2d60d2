// Stopping, starting again, and starting twice.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { measured } from '../harness/measured.ts';
import { listProcesses, processTree } from '../harness/processes.ts';
import { startServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';

let home = '';
let dataDir = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-stop-'));
  dataDir = join(home, 'data');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const start = () => startServer({ dataDir, config: unlimited });

const project = join(import.meta.dirname, '../..');

/** A program that starts a server in `dataDir`: what it and the server say, and when both have ended. */
function starts(program: string, args: readonly string[]) {
  const env = { ...process.env, BULKHEAD_DATA_DIR: dataDir, BULKHEAD_HTTP__PORT: '0' };
  const starting = spawn(program, args, {
    cwd: project,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: starting.stdout }).on('line', (line) => lines.push(line));
  let isOver = false;
  const ended = once(starting, 'close').finally(() => isOver = true);
  onTestFinished(() => void (isOver || process.kill(-(starting.pid ?? 0), 'SIGKILL')));
  const heard = (text: string) =>
    vi.waitUntil(() => lines.some((line) => line.includes(text)), { timeout: 25_000, interval: 5 });
  return { starting, lines, heard, ended };
}

/** A write whose head the server has, and whose body it waits for. */
async function beginWrite(store: Storefront, url: string, id: string) {
  const body = JSON.stringify({ id, title: 'slow' });
  const sent = request(url + store.records, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${store.master.token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Expect: '100-continue',
    },
  });
  const answered = once(sent, 'response');
  answered.catch(() => 'seen by whoever finishes the write');
  sent.flushHeaders();
  await once(sent, 'continue');
  return {
    finish: async (): Promise<number | undefined> => {
      sent.end(body);
      const [response] = await answered;
      response.resume();
      return response.statusCode;
    },
  };
}

describe('a server that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'finishes requests in flight, takes no new ones, and ends with 0: %s',
    async (signal) => {
      const server = await start();
      const store = await openStorefront(server.url);
      const tree = await processTree(server.pid);
      const id = randomUUID();
      const write = await beginWrite(store, server.url, id);
      server.kill(signal);
      await server.line('"stopping"');
      await expect.poll(() => store.read(id).then(() => 'answered', () => 'refused')).toBe('refused');
      expect(await write.finish()).toBe(201);
      expect(await server.exited).toMatchObject({ code: 0 });
      const alive = async () =>
        (await listProcesses()).filter(({ pid }) => tree.some((row) => row.pid === pid));
      // What is killed last, the watcher of PostgreSQL's lifeline, is gone when the kernel next has time for it.
      await expect.poll(alive).toEqual([]);

      const again = await start();
      expect(expectOk(await store.at(again.url).read(id)).fields).toEqual({ title: 'slow' });
      await again.stop();
    },
  );

  it('takes two signals in a row, as a terminal and npm send them, for one', async () => {
    const server = await start();
    const store = await openStorefront(server.url);
    const write = await beginWrite(store, server.url, randomUUID());
    server.kill('SIGINT');
    await server.line('"stopping"');
    server.kill('SIGINT');
    expect(await write.finish()).toBe(201);
    expect(await server.exited).toMatchObject({ code: 0 });
  });

  it('ends with 0 and leaves nothing half made when it is told so while it makes its database', async () => {
    const node = join(project, 'node_modules/.bin/node');
    const { starting, lines, heard, ended } = starts(node, ['supervisor/main.ts', 'serve']);
    await heard('making the PostgreSQL cluster');
    starting.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const said = lines.map((line) => String(JSON.parse(line).message));
    expect(said.slice(said.findIndex((message) => message.startsWith('making')) + 1)).toEqual(['stopped']);
    const again = await start();
    await again.stop();
  });

  it('hears it from npm, which started it', async () => {
    const { starting, lines, heard, ended } = starts('npm', ['start']);
    await heard('"initialized":');
    starting.kill('SIGTERM');
    await ended;
    expect(lines.at(-1)).toContain('"stopped"');
  });

  it('ends at once when it is told again a second later', measured, async () => {
    const server = await start();
    const store = await openStorefront(server.url);
    const write = await beginWrite(store, server.url, randomUUID());
    server.kill('SIGTERM');
    await server.line('"stopping"');
    await pause(1100);
    const told = performance.now();
    server.kill('SIGTERM');
    await server.exited;
    expect(performance.now() - told).toBeLessThan(2000);
    await expect(write.finish()).rejects.toThrow();
  });

  it('keeps everything, the session included', async () => {
    const first = await start();
    const store = await openStorefront(first.url);
    const id = randomUUID();
    expectOk(await store.write(id));
    await first.stop();
    const second = await start();
    expect(second.output.join('\n')).not.toContain('Set the password');
    expectOk(await store.at(second.url).read(id));
    await second.stop();
  });
});

describe('a second server', () => {
  it('on the same data directory refuses in one line that names the first', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(`is in use by another bulkhead (pid ${first.pid})`);
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
    await first.stop();
  });

  // The processes of one server share its port.
  it.each([1, 2])(
    'on the same port, both of %i processes, refuses in one line that names it',
    async (workers) => {
      const first = await startServer({ config: { api: { workers } } });
      const port = Number(new URL(first.url).port);
      await expect(startServer({ config: { api: { workers }, http: { port } } })).rejects.toThrow(
        `bulkhead: cannot listen on port ${port} of 127.0.0.1: listen EADDRINUSE: address already in use`,
      );
      await first.stop();
    },
  );
});
