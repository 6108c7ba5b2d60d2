// Real processes: how they are kept alive and stopped.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Child, type ChildEvent, type ChildSpec } from '../../supervisor/child.ts';
import { coreRestartRules } from '../../supervisor/restarts.ts';
import type { Command } from '../../supervisor/spawn.ts';
import { StartRefused } from '../../supervisor/start-refused.ts';
import { isAlive } from '../harness/processes.ts';

const env = { PATH: '/usr/bin:/bin' };

/** A shell script; `{ ipc: … }` and the like come by `more`. */
function script(text: string, more: Partial<Command> = {}): Command {
  return { file: 'sh', args: ['-c', text], env, orphanSignal: 'KILL', ...more };
}

const gone = (pid: number) =>
  vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 1000, interval: 10 });

const children: Child[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()));
});

/** A child that runs the script, and is ready at once unless `more` says otherwise. */
function child(text: string, more: Partial<ChildSpec> = {}): { child: Child; events: ChildEvent[] } {
  const events: ChildEvent[] = [];
  const made = new Child(
    {
      name: 'test',
      command: () => script(text),
      whenReady: () => Promise.resolve(),
      readyTimeoutMs: 5000,
      askToStop: (running) => running.signal('SIGTERM'),
      stopTimeoutMs: 5000,
      restarts: { ...coreRestartRules, firstWaitMs: 10, healthyMs: 0 },
      ...more,
    },
    (event) => events.push(event),
  );
  children.push(made);
  return { child: made, events };
}

describe('a child', () => {
  it('goes from starting to ready to stopping to stopped', async () => {
    const ready = Promise.withResolvers<void>();
    const { child: made } = child('sleep 1000', { whenReady: () => ready.promise });
    const start = made.start();
    expect(made.state).toBe('starting');
    ready.resolve();
    await start;
    expect(made.state).toBe('ready');
    const stop = made.stop();
    expect(made.state).toBe('stopping');
    await stop;
    expect(made.state).toBe('stopped');
  });

  it('is started again when it is killed', async () => {
    const { child: made, events } = child('sleep 1000');
    await made.start();
    const first = made.running?.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await expect.poll(() => events).toHaveLength(3);
    expect(events.map(({ type }) => type)).toEqual(['ready', 'crashed', 'ready']);
    expect(events[1]).toMatchObject({ reason: 'was ended by SIGKILL', wait: 10, opened: false });
    expect(made.running?.pid).not.toBe(first);
    expect(made.state).toBe('ready');
  });

  it('is killed with its whole group when it does not stop in time', async () => {
    const lines: string[] = [];
    const { child: made } = child('', {
      command: () =>
        script("trap '' TERM; sleep 1000 & echo $!; wait; wait", { onLine: (line) => lines.push(line) }),
      stopTimeoutMs: 50,
    });
    await made.start();
    await expect.poll(() => lines).toHaveLength(1);
    await made.stop();
    await gone(Number(lines[0]));
  });

  it('that is not ready by its deadline is killed and counted as crashed', async () => {
    let pid = 0;
    const { child: made, events } = child('sleep 1000', {
      whenReady: (running) => {
        ({ pid } = running);
        return new Promise(() => {});
      },
      readyTimeoutMs: 20,
      restarts: { ...coreRestartRules, maxCrashes: 1 },
    });
    await expect(made.start()).rejects.toThrow('test does not start: was not ready within 20 ms');
    expect(events).toMatchObject([{ type: 'crashed', opened: true }]);
    expect(await isAlive(pid)).toBe(false);
  });

  it('that runs and does nothing any more is gone before another is started, and no longer watched', async () => {
    const silent = Promise.withResolvers<never>();
    const [found, watches]: [boolean[], AbortSignal[]] = [[], []];
    let first = 0;
    const { child: made, events } = child('', {
      command: async () => {
        if (first !== 0) found.push(await isAlive(first));
        return script('sleep 1000');
      },
      watch: (_running, ended) => {
        watches.push(ended);
        return watches.length === 1 ? silent.promise : new Promise(() => {});
      },
    });
    await made.start();
    first = made.running?.pid ?? 0;
    silent.reject(new Error('did not respond'));
    await expect.poll(() => events.map(({ type }) => type)).toEqual(['ready', 'crashed', 'ready']);
    expect(found).toEqual([false]);
    expect(watches.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('that keeps dying before it is ready gives its start up', async () => {
    const { child: made, events } = child('exit 7', {
      whenReady: () => new Promise(() => {}),
      restarts: { ...coreRestartRules, firstWaitMs: 1 },
    });
    await expect(made.start()).rejects.toThrow(new StartRefused('test does not start: exited with code 7'));
    expect(events).toHaveLength(5);
  });

  it('that refuses its start is not tried again', async () => {
    const { child: made, events } = child('sleep 1000', {
      whenReady: () => Promise.reject(new StartRefused('too old')),
    });
    await expect(made.start()).rejects.toThrow(new StartRefused('too old'));
    await expect.poll(() => made.state).toBe('stopped');
    expect(events).toEqual([]);
  });

  it('that served before is tried again even when its start is refused', async () => {
    let starts = 0;
    const { child: made, events } = child('sleep 1000', {
      whenReady: () => ++starts === 2 ? Promise.reject(new StartRefused('no database')) : Promise.resolve(),
    });
    await made.start();
    process.kill(made.running?.pid ?? 0, 'SIGKILL');
    await expect.poll(() => events.map(({ type }) => type)).toEqual(['ready', 'crashed', 'crashed', 'ready']);
    expect(events[2]).toMatchObject({ reason: 'no database' });
  });

  it('can be stopped while it waits to be started again', async () => {
    const { child: made, events } = child('exit 1', {
      whenReady: () => new Promise(() => {}),
      restarts: { ...coreRestartRules, firstWaitMs: 60_000, maxWaitMs: 60_000 },
    });
    const start = made.start();
    start.catch(() => {});
    await expect.poll(() => events).toHaveLength(1);
    await made.stop();
    expect(made.state).toBe('stopped');
    await expect(start).rejects.toThrow('stopped before it was ready');
  });

  it('that is stopped while it is prepared is never started', async () => {
    const prepared = Promise.withResolvers<void>();
    const whenReady = vi.fn(() => Promise.resolve());
    const { child: made } = child('', {
      command: async () => {
        await prepared.promise;
        return script('sleep 1000');
      },
      whenReady,
    });
    const start = made.start();
    start.catch(() => {});
    const stopped = made.stop();
    prepared.resolve();
    await stopped;
    expect(whenReady).not.toHaveBeenCalled();
    await expect(start).rejects.toThrow('stopped before it was ready');
  });
});
