// The API's processes, with a stand-in for the API.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type ApiProcesses,
  type ApiProcessOptions,
  createApiProcesses,
} from '../../supervisor/api-process.ts';
import type { ChildEvent } from '../../supervisor/child.ts';
import { resolveConfig } from '../../supervisor/config.ts';
import type { Config, DatabaseAccess } from '../../supervisor/protocol.ts';
import { StartRefused } from '../../supervisor/start-refused.ts';
import { measured } from '../harness/measured.ts';

const access: DatabaseAccess = {
  host: '/tmp',
  port: 5432,
  username: 'bulkhead',
  password: 'secret',
  database: 'bulkhead',
  ssl: 'disable',
};
const masterKey = Buffer.alloc(32, 7);

let api: ApiProcesses | undefined;
afterEach(async () => {
  await api?.stop();
  vi.unstubAllEnvs();
});

function make(
  change: (config: Config) => Config,
  { database = Promise.resolve(access), ...more }: Partial<
    Pick<ApiProcessOptions, 'database' | 'heartbeat'>
  > = {},
) {
  const { config } = resolveConfig({ file: undefined, env: {}, flags: [], cwd: '/', terminal: false });
  const events: ChildEvent[] = [];
  const progress: string[] = [];
  api = createApiProcesses({
    config: change({ ...config, http: { ...config.http, port: 0 } }),
    masterKey,
    database,
    sandbox: Promise.resolve({ level: 'none', shares: 'none', why: 'nothing runs hooks here' }),
    runners: { connect: () => ({ handle: () => {}, close: () => {} }) },
    path: '/usr/bin:/bin',
    onEvent: (event) => events.push(event),
    onProgress: (message) => progress.push(message),
    program: fileURLToPath(new URL('stand-in-api.ts', import.meta.url)),
    ...more,
  });
  return { api, events, progress };
}

const behaving = (issuer: string) => (config: Config): Config => ({
  ...config,
  auth: { ...config.auth, issuer },
});

async function ask(
  url: string,
): Promise<{ environment: string[]; worker: number; pid: number; masterKey: string }> {
  const response = await fetch(url, { headers: { Connection: 'close' } });
  return JSON.parse(await response.text());
}

describe('the API processes', () => {
  it('are told everything by message, and nothing by the environment but where programs are', async () => {
    for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA']) vi.stubEnv(name, undefined);
    const { api: made, progress } = make((config) => config);
    const { url, initialized } = await made.start();
    expect(initialized).toBe(false);
    const response = await ask(url);
    expect(response).toMatchObject({ worker: 0, database: access, masterKey: masterKey.toString('base64') });
    expect(response.environment.filter((name) => !/^(PWD|_|NODE_CHANNEL_.*)$/.test(name))).toEqual(['PATH']);
    expect(progress).toEqual(['worker 0 listens']);
  });

  it('are told whom Node is to trust, too', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/etc/ssl/own.pem');
    vi.stubEnv('NODE_USE_SYSTEM_CA', '1');
    const { url } = await make((config) => config).api.start();
    expect((await ask(url)).environment).toEqual(
      expect.arrayContaining(['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA']),
    );
  });

  it('come back within 2 s on the same port when one is killed', measured, async () => {
    const { api: made } = make((config) => config);
    const { url } = await made.start();
    const { pid } = await ask(url);
    const killed = performance.now();
    process.kill(pid, 'SIGKILL');
    const successor = await vi.waitFor(() => ask(url), { timeout: 2000, interval: 10 });
    expect(successor.pid).not.toBe(pid);
    expect(performance.now() - killed).toBeLessThan(2000);
  });

  it('are replaced when they run and do nothing, and left alone while they answer', async () => {
    const timeoutMs = 2_000;
    const { api: made, events } = make((config) => config, { heartbeat: { intervalMs: 100, timeoutMs } });
    const { url } = await made.start();
    const { pid } = await ask(url);
    await sleep(1.5 * timeoutMs);
    expect((await ask(url)).pid).toBe(pid);
    process.kill(pid, 'SIGSTOP');
    const crash = () => events.find(({ type }) => type === 'crashed');
    await vi.waitFor(() => expect(crash()).toBeDefined(), { timeout: 20_000, interval: 10 });
    expect(crash()).toMatchObject({ name: 'api', reason: 'did not respond for 2 s' });
    const successor = await vi.waitFor(() => ask(url), { timeout: 20_000, interval: 10 });
    expect(successor.pid).not.toBe(pid);
    await sleep(1.5 * timeoutMs);
    expect((await ask(url)).pid).toBe(successor.pid);
  });

  it('share one port when there are several, of which the first starts alone', async () => {
    const { api: made, progress } = make((config) => ({ ...config, api: { workers: 3 } }));
    const { url } = await made.start();
    expect(progress[0]).toBe('worker 0 listens');
    const seen = new Set<number>();
    await vi.waitFor(async () => {
      seen.add((await ask(url)).worker);
      expect([...seen].sort()).toEqual([0, 1, 2]);
    }, { timeout: 5000, interval: 1 });
  });

  it('that say that a start cannot succeed are not tried again, and their message is the operator’s', async () => {
    const { api: made, events } = make(behaving('fails'));
    await expect(made.start()).rejects.toThrow(new StartRefused('the database is too old'));
    expect(events).toEqual([]);
  });

  it('that only crash are tried five times', async () => {
    const { api: made, events } = make(behaving('crashes'));
    await expect(made.start()).rejects.toThrow(new StartRefused('api does not start: exited with code 3'));
    expect(events).toHaveLength(5);
  });

  it('stop at once while the database is not there yet', measured, async () => {
    const { api: made } = make((config) => config, { database: new Promise(() => {}) });
    const start = made.start();
    start.catch(() => {});
    const asked = performance.now();
    await made.stop();
    expect(performance.now() - asked).toBeLessThan(1000);
    await expect(start).rejects.toThrow('stopped before it was ready');
  });
});
