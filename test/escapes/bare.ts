// Attempts with everything that the runner takes away from hook code: what holds when its own walls have fallen.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runnerCommand, type RunnerPlan } from '../../supervisor/hooks/runner-command.ts';
import { spawn } from '../../supervisor/spawn.ts';
import { attempts } from './attempts/index.ts';
import type { Bait } from './attempts/attempt.ts';
import { type Outcome, tryCode } from './outcome.ts';

const mark = '@outcome ';
const names = ['DIR', 'SINK', 'OTHER', 'PORT', 'VICTIM', 'RECORD', 'FILE', 'APP'] as const;

/** A program that makes every attempt from a number on, with all of Deno there, and says what came of each. */
function program(bait: Bait): string {
  // As texts: what the program itself imports literally, Deno would load before it asks about permissions.
  const codes = attempts.map(({ code }) => code.replaceAll('import.meta', 'META'));
  return `
    const later = setTimeout;
    const out = Deno.stdout;
    const META = import.meta;
    const say = (...what) => out.writeSync(new TextEncoder().encode('\\n${mark}' + JSON.stringify(what) + '\\n'));
    ${tryCode}
    const codes = ${JSON.stringify(codes)};
    const bait = ${JSON.stringify(bait)};
    const values = ${JSON.stringify(names)}.map((name) => bait[name]);
    globalThis.onunhandledrejection = (event) => event.preventDefault();
    globalThis.onerror = (event) => event.preventDefault();
    for (let id = Number(Deno.args[0]); id <= codes.length; id++) {
      say(id);
      const make = () => new Function(...${
    JSON.stringify(names)
  }, 'META', 'return (async () => (' + codes[id - 1] + '))()');
      say(id, await tryOne(() => make()(...values, META)));
    }
    say('done');
    Deno.exit(0);`;
}

/** Makes all attempts behind the walls of a plan; `open` leaves only those that are not Deno's. */
export async function tryBare(
  plan: RunnerPlan,
  bait: Bait,
  { open = false }: { open?: boolean } = {},
): Promise<Map<number, Outcome>> {
  const code = await mkdtemp(join(tmpdir(), 'bulkhead-attempts-'));
  await chmod(code, 0o755);
  await writeFile(join(code, 'attempts.js'), program(bait), { mode: 0o644 });
  const outcomes = new Map<number, Outcome>();
  try {
    for (let next = 1; next <= attempts.length;) {
      const { last, isDone } = await tryFrom({ plan: { ...plan, code }, next, open, outcomes });
      if (isDone) break;
      if (last === undefined) throw new Error('the program of attempts does not start');
      outcomes.set(last, { name: 'ends the process' });
      next = last + 1;
    }
  } finally {
    await rm(code, { recursive: true });
  }
  return outcomes;
}

interface Round {
  plan: RunnerPlan;
  next: number;
  open: boolean;
  outcomes: Map<number, Outcome>;
}

/** One process, until it ends: of itself, or in the attempt `last`. */
async function tryFrom({ plan, next, open, outcomes }: Round) {
  const command = runnerCommand(plan, { program: 'attempts.js', slot: next % 2, memory: 512 });
  const args = command.args.filter((arg) => !open || !arg.startsWith('--deny-'));
  if (open) args.splice(args.indexOf('run') + 1, 0, '--allow-all');
  let last: number | undefined;
  let isDone = false;
  const running = spawn({
    ...command,
    args: [...args, String(next)],
    onLine: (line) => {
      if (!line.startsWith(mark)) return;
      const [id, outcome]: [number | string, Outcome?] = JSON.parse(line.slice(mark.length));
      if (typeof id === 'string') isDone = true;
      else if (outcome === undefined) last = id;
      else outcomes.set(id, outcome);
    },
  });
  running.socket?.on('error', () => 'it may end while it is written to').resume();
  await running.exited;
  await running.closed;
  return { last, isDone };
}
