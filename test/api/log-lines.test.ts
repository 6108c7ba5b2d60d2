// The lines that the API writes: whole, in order, JSON whatever is in them.
import { closeSync, openSync, readFileSync, watch } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LogEvent, logObserver, type Observe } from '../../api/logging/events.ts';
import { exitOnPausedTerminal } from '../harness/paused-terminal.ts';

const now = () => new Date('2026-01-02T03:04:05.678Z');
const done: Extract<LogEvent, { type: 'request_done' }> = {
  type: 'request_done',
  method: 'GET',
  route: '/api/workspaces/:workspace',
  status: 200,
  ms: 3,
  request_id: 'a-b_c.1',
  principal: 'master_admin',
  workspace: undefined,
};

let directory: string;
let file: string;
let descriptor: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bulkhead-log-'));
  file = join(directory, 'log');
  descriptor = openSync(file, 'a');
});

afterEach(async () => {
  closeSync(descriptor);
  await rm(directory, { recursive: true });
});

/** Lets facts be observed and answers the lines, once there are as many as are wanted. */
async function linesOf(
  observe: Observe,
  facts: readonly LogEvent[],
  wanted = facts.length,
): Promise<string[]> {
  const complete = new Promise<void>((resolve) => {
    const watcher = watch(file, () => {
      if (readFileSync(file, 'utf8').split('\n').length <= wanted) return;
      watcher.close();
      resolve();
    });
  });
  for (const fact of facts) observe(fact);
  await complete;
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

describe('lines of the log', () => {
  it('are JSON with the time, the level and the members of the fact', async () => {
    const observe = logObserver({ level: 'info', format: 'json', now, descriptor });
    const [line = ''] = await linesOf(observe, [done]);
    const { workspace: _none, ...members } = done;
    expect(JSON.parse(line)).toEqual({ ts: '2026-01-02T03:04:05.678Z', level: 'info', ...members });
  });

  it('stay one line of JSON each whatever a workspace or an error is called', async () => {
    const observe = logObserver({ level: 'info', format: 'json', now, descriptor });
    const facts: LogEvent[] = [
      { ...done, workspace: 'a"b\\c\n{"level":"x"}' },
      { ...done, workspace: 'acme', impersonator: 'a"b\\c\n' },
      { type: 'request_failed', request_id: 'r', error: 'line\nbreak "quoted"' },
    ];
    const lines = await linesOf(observe, facts);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(facts);
  });

  it('come out whole and in order when there are many', async () => {
    const observe = logObserver({ level: 'info', format: 'json', now, descriptor });
    const facts = Array.from({ length: 20_000 }, (_unused, ms) => ({ ...done, ms }));
    const lines = await linesOf(observe, facts);
    expect(lines.map((line) => JSON.parse(line).ms)).toEqual(facts.map(({ ms }) => ms));
  });

  it('are dropped whole, the newest first, when nobody takes them and 4 MiB are waiting', async () => {
    const observe = logObserver({ level: 'info', format: 'json', now, descriptor });
    const facts = Array.from({ length: 40_000 }, (_unused, ms) => ({ ...done, ms }));
    const lines = await linesOf(observe, facts, 15_000);
    expect(lines.length).toBeLessThan(facts.length);
    expect(lines.map((line) => JSON.parse(line).ms)).toEqual(
      facts.slice(0, lines.length).map(({ ms }) => ms),
    );
  });

  it('leave out what is below the level', async () => {
    const observe = logObserver({ level: 'error', format: 'json', now, descriptor });
    const failed: LogEvent = { type: 'request_failed', request_id: 'r', error: 'broke' };
    const lines = await linesOf(observe, [done, failed], 1);
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['request_failed']);
  });

  it('say nothing of a workspace that there is none of, also for a person', async () => {
    const observe = logObserver({ level: 'info', format: 'pretty', now, descriptor });
    const [line] = await linesOf(observe, [done]);
    expect(line).toBe(
      '2026-01-02T03:04:05.678Z info  request_done method=GET route=/api/workspaces/:workspace status=200 ms=3 ' +
        'request_id=a-b_c.1 principal=master_admin',
    );
  });

  it('are those of hooks for a person, whose text cannot pass for another line or steer the terminal', async () => {
    const observe = logObserver({ level: 'info', format: 'pretty', now, descriptor });
    const hook = { type: 'hook_log', app: 'acme/shop', request_id: null } as const;
    const text = 'a.ts hi\n2026-01-02T03:04:05.678Z error forged\u001b[2J\u202e\tend';
    const facts: LogEvent[] = [
      { ...hook, level: 'debug', text: 'below the level' },
      { ...hook, level: 'warn', text },
      { type: 'background_failed', task: 'look', error: 'a\u001bb' },
    ];
    expect(await linesOf(observe, facts, 3)).toEqual([
      '2026-01-02T03:04:05.678Z warn  hook acme/shop a.ts hi',
      '    2026-01-02T03:04:05.678Z error forged\\u001b[2J\\u202e\tend',
      '2026-01-02T03:04:05.678Z error background_failed task=look error=a\\u001bb',
    ]);
  });

  it('hold nothing up while the terminal that they go to is paused', async () => {
    expect(await exitOnPausedTerminal(fileURLToPath(new URL('many-lines.ts', import.meta.url)))).toBe(0);
  });
});
