// What a runner writes, on its way: how much of it, in which form, and what is left when it is dead.
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { OutputBudget, relayOutput } from '../../../supervisor/hooks/runner-output.ts';

const rate = 65_536;

/** Output that a test writes, by a clock of its own. */
function open() {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const passed: string[] = [];
  let clock = 0;
  const { finish } = relayOutput(streams, {
    budget: new OutputBudget(),
    onText: (text) => void passed.push(text),
    now: () => clock,
  });
  return {
    ...streams,
    passed,
    /** The beginnings of what was passed on. */
    beginnings: () => passed.map((text) => text.slice(0, 9)),
    pass: (milliseconds: number) => void (clock += milliseconds),
    die: async () => {
      streams.stdout.end();
      streams.stderr.end();
      await finish();
    },
  };
}

/** Writes so much that what comes after it has to wait for 99 seconds. */
async function flood({ stdout, beginnings }: ReturnType<typeof open>): Promise<void> {
  stdout.write('x'.repeat(100 * rate));
  await expect.poll(beginnings).toEqual(['xxxxxxxxx']);
  stdout.write('last words');
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  expect(beginnings()).toEqual(['xxxxxxxxx']);
}

describe('the budget of an app', () => {
  it('is 64 KiB at once and 64 KiB a second, and what was written beyond that is waited for', () => {
    const budget = new OutputBudget();
    expect(budget.take(rate, 0)).toBe(0);
    expect(budget.take(rate / 2, 0)).toBe(500);
    expect(budget.take(rate / 2, 1000)).toBe(0);
    expect(budget.take(rate, 1000)).toBe(1000);
  });

  it('is not more for an app that was silent for long', () => {
    const budget = new OutputBudget();
    expect(budget.take(1, 0)).toBe(0);
    expect(budget.take(2 * rate, 3_600_000)).toBe(1000);
  });
});

describe('output', () => {
  it('obeys nobody: control characters but tabs and line ends are shown as what they are', async () => {
    const { stdout, passed, die } = open();
    stdout.write('a\tb\nc\u0000\u0008\u000b\u000c\r\u001b[2J\u001f\u007f\u0080\u009b\u009f\u00a0é');
    await die();
    expect(passed.join('')).toBe(
      'a\tb\nc\\x00\\x08\\x0b\\x0c\\x0d\\x1b[2J\\x1f\\x7f\\x80\\x9b\\x9f\u00a0é',
    );
  });

  it('beyond the budget is read no further while its process lives, and not passed on once that is dead', async () => {
    const output = open();
    await flood(output);
    await output.die();
    expect(output.beginnings()).toEqual(['xxxxxxxxx']);
  });

  it('is passed on to its last words when the process is dead, as far as the budget goes by then', async () => {
    const output = open();
    await flood(output);
    output.pass(200_000);
    await output.die();
    expect(output.beginnings()).toEqual(['xxxxxxxxx', 'last word']);
  });
});
