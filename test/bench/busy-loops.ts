// A machine whose every core is busy with something that matters less than anything else: what that alone does to a
// measurement is what the machine allows at best.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';

const endless = 'for (;;);';
/** 19 MiB, which is what a hash of a password walks. */
const walkingEndlessly = `
  const memory = new Float64Array(19 * 131_072);
  for (;;) for (let index = 0; index < memory.length; index += 8) memory[index] += 1;`;

/** Runs work beside one endless loop a core, each a process of the lowest priority; `walking`: through memory. */
export async function besideBusyLoops<Result>(
  work: () => Promise<Result>,
  { walking = false }: { walking?: boolean } = {},
): Promise<Result> {
  const script = walking ? walkingEndlessly : endless;
  const loops = Array.from({ length: availableParallelism() }, () => startLoop(script));
  try {
    return await work();
  } finally {
    await Promise.all(loops.map(stop));
  }
}

function startLoop(script: string): ChildProcess {
  const loop = spawn(process.execPath, ['--eval', script], { stdio: 'ignore' });
  if (loop.pid !== undefined) setPriority(loop.pid, constants.priority.PRIORITY_LOW);
  return loop;
}

async function stop(loop: ChildProcess): Promise<void> {
  const gone = once(loop, 'exit');
  loop.kill();
  await gone;
}
