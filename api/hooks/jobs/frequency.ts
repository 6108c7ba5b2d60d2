// Leaves out jobs that would run more often than policy permits. The runner says what it has, so this is checked outside of it.
import type { FileRegistrations, JobRegistration } from '../../../hook-runner/registrations.ts';
import type { FileFault } from '../ports.ts';
import { Registrations } from '../registrations.ts';
import { readMinGapSec } from './times.ts';

/** Arranges what files register, without the jobs that may be due twice within `minSec` seconds. */
export async function refuseFrequentJobs(
  registered: readonly FileRegistrations[],
  minSec: number,
): Promise<Registrations> {
  if (registered.every(({ jobs }) => jobs.length === 0)) return new Registrations(registered);
  const faults: FileFault[] = [];
  const files: FileRegistrations[] = [];
  for (const one of registered) {
    const jobs = [];
    const refused: string[] = [];
    for (const job of one.jobs) {
      const gapSec = await readMinGapSec(job.expression);
      if (gapSec >= minSec) jobs.push(job);
      else refused.push(describe(job, gapSec, minSec));
    }
    files.push({ ...one, jobs });
    const [first, ...more] = refused;
    if (first === undefined) continue;
    const others = more.length === 0 ? '' : `. The same is true of ${more.length} more of its jobs`;
    faults.push({ file: one.file, message: first + others, line: null, column: null });
  }
  return new Registrations(files, { minSec, faults });
}

function describe({ name, expression }: JobRegistration, gapSec: number, minSec: number): string {
  return `job ${JSON.stringify(name)} never runs: its schedule ${
    JSON.stringify(expression)
  } has times ${gapSec} s apart, ` +
    `and policy hooks.cron_min_sec is ${minSec}`;
}
