// Starts of runners as the API asks the supervisor for them.
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RunnerRefused, SupervisedRunners } from '../../../../api/hooks/pool/host.ts';
import type { RunnerRequest } from '../../../../supervisor/protocol.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const wish = {
  workspace: 'acme',
  app: 'shop',
  memory_mb: 256,
  share: { cpu_cores: 1, cpu_burst_ms: 1_000, memory_mb: 1_024 },
  onOutput: () => {},
  onPaused: () => {},
  onSpent: () => {},
  onUse: () => {},
};

/** What is asked of a supervisor that answers when the test says so. */
function asked() {
  const requests: RunnerRequest[] = [];
  const host = new SupervisedRunners((request) => void requests.push(request), 1);
  const starting = host.start(wish).catch((error: Error) => error);
  const [first] = requests;
  if (first?.type !== 'runner_start') throw new Error('no start was asked for');
  return { host, requests, starting, id: first.id };
}

it('are given up after 10 s, and a runner that comes later is ended, with its socket', async () => {
  const { host, requests, starting, id } = asked();
  vi.advanceTimersByTime(9_999);
  expect(requests).toHaveLength(1);
  vi.advanceTimersByTime(1);
  const refused = await starting;
  expect(refused).toBeInstanceOf(RunnerRefused);
  expect(refused).toMatchObject({
    reason: 'cannot_start',
    message: 'the hook runner was not started in time',
  });
  const stop = { type: 'runner_stop', id, kill: true };
  expect(requests.slice(1)).toEqual([stop]);
  // The walls were still being tried: the supervisor knew of nothing that it could have stopped.
  const socket = new Socket();
  host.receive({ type: 'runner_started', id, pid: 1 }, socket);
  expect(socket.destroyed).toBe(true);
  expect(requests.slice(1)).toEqual([stop, stop]);
});

it('are refused until one has ended where there are as many as this process may have', async () => {
  const { host, requests, starting, id } = asked();
  const other = { ...wish, app: 'other' };
  const refused = { reason: 'full', message: 'there are 1 runners already' };
  await expect(host.start(other)).rejects.toMatchObject(refused);
  host.receive({ type: 'runner_started', id, pid: 7 }, new Socket());
  await starting;
  await expect(host.start(other)).rejects.toMatchObject(refused);
  const asks = () => requests.filter(({ type }) => type === 'runner_start').length;
  expect(asks()).toBe(1);
  host.receive({ type: 'runner_exited', id }, undefined);
  void host.start(other);
  expect(asks()).toBe(2);
});

it('that were answered in time are not given up', async () => {
  const { host, requests, starting, id } = asked();
  const socket = new Socket();
  host.receive({ type: 'runner_started', id, pid: 7 }, socket);
  expect(await starting).toMatchObject({ socket });
  vi.advanceTimersByTime(60_000);
  expect([requests.length, socket.destroyed]).toEqual([1, false]);
});

it('that end while they are measured have used nothing that anybody knows', async () => {
  const { host, starting, id } = asked();
  host.receive({ type: 'runner_started', id, pid: 7 }, new Socket());
  const runner = await starting;
  const measure = runner instanceof Error ? undefined : runner.measure;
  const measured = measure?.();
  host.receive({ type: 'runner_exited', id }, undefined);
  expect(await measured).toBeUndefined();
  expect(await measure?.()).toBeUndefined();
});
