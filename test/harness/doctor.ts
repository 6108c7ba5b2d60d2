// `bulkhead doctor`, and what it finds wrong.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Finding } from '../../supervisor/doctor/protocol.ts';
import { bulkhead, type CommandOptions } from './command.ts';

/** What it says of a machine. */
export interface Examined {
  exitCode: number | undefined;
  all: Finding[];
  /** Warnings and failures. Those of the sandbox are left out, as they are the machine's own; `all` has them. */
  faults: Finding[];
}

/** Has it examine settings. Those of the flags come on top of a data directory that is not there yet. */
export async function examine(flags: readonly string[], options: CommandOptions = {}): Promise<Examined> {
  const home = await mkdtemp(join(tmpdir(), 'bulkhead-patient-'));
  const usual = [`--data-dir=${home}/data`, '--http-port=0'];
  const isGiven = (name: string) => flags.some((flag) => flag.startsWith(name));
  const own = usual.filter((flag) => !isGiven(flag.slice(0, flag.indexOf('='))));
  try {
    const { exitCode, stdout, stderr } = await bulkhead(['doctor', '--json', ...own, ...flags], options);
    if (stderr !== '') throw new Error(stderr);
    const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout);
    if (ok !== (exitCode === 0)) throw new Error(`ok is ${ok}, and the exit code ${exitCode}`);
    const isFault = ({ check, status }: Finding) => status !== 'ok' && check !== 'sandbox';
    return { exitCode, all: findings, faults: findings.filter(isFault) };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The one fault, as it is to be named. */
export function fault(check: string, message: RegExp, advice: RegExp): unknown[] {
  return [{
    check,
    status: 'failed',
    message: expect.stringMatching(message),
    advice: expect.stringMatching(advice),
  }];
}
