// A machine whose every core is busy with something that matters less than anything else: what that alone does to a
// measurement is what the machine allows at best.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';

/** Runs work beside one endless loop a core, each a process of the lowest priority. */
export async function besideBusyLoops<Result>(work: () => Promise<Result>): Promise<Result> {
  const loops = Array.from({ length: availableParallelism() }, startLoop);
  try {
    return await work();
  } finally {
    await Promise.all(loops.map(stop));
  }
}

function startLoop(): ChildProcess {
  const loop = spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' });
  if (loop.pid !== undefined) setPriority(loop.pid, constants.priority.PRIORITY_LOW);
  return loop;
}

async function stop(loop: ChildProcess): Promise<void> {
  const gone = once(loop, 'exit');
  loop.kill();
  await gone;
}
