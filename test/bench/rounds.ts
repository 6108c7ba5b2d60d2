// Interleaved rounds: ours and the yardstick in turn, so that whatever else the machine does meets both alike.
import type { Generator, LoadResult, Plan } from './load.ts';
import { cpuMicroseconds } from './proc.ts';
import { type Spread, spread } from './statistics.ts';

/** One of the two servers that are compared. */
export interface Side {
  name: string;
  /** Processes whose CPU time counts as the server's, as of now: runners begin and end while it serves. */
  pids: () => readonly number[];
  plan: Omit<Plan, 'seconds' | 'connections'>;
}

/** How long and how often. */
export interface Pace {
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  connections: number;
  /** Runs once more with a CPU profile of the API, which is written beside the results. */
  profile: boolean;
}

/** One run of one side. */
export interface Round {
  requestsPerSecond: number;
  /** CPU time of the server's processes for each request, in microseconds. */
  cpu: number;
  p50: number;
  p99: number;
}

/** What one side did over all rounds. */
export interface SideResult {
  name: string;
  rounds: Round[];
  requestsPerSecond: Spread;
  cpu: Spread;
  p50: Spread;
  p99: Spread;
}

/** Both sides, and ours by the yardstick's, round by round. */
export interface Comparison {
  ours: SideResult;
  yardstick: SideResult;
  /** Requests a second of ours divided by the yardstick's in the same round. */
  ratio: Spread;
  /** The yardstick's CPU time a request divided by ours: what the first would be if nothing else needed the processors. */
  cpuRatio: Spread;
}

/** Warms both sides up and measures them in turn; every second round begins with the other side. */
export async function compare(
  generator: Generator,
  sides: { ours: Side; yardstick: Side },
  pace: Pace,
): Promise<Comparison> {
  const { ours, yardstick } = sides;
  for (const side of [ours, yardstick]) {
    await measure(generator, side, { ...pace, seconds: pace.warmUpSeconds });
  }
  const results: { ours: Round[]; yardstick: Round[] } = { ours: [], yardstick: [] };
  for (let index = 0; index < pace.rounds; index++) {
    const order = index % 2 === 0 ? (['ours', 'yardstick'] as const) : (['yardstick', 'ours'] as const);
    for (const which of order) results[which].push(await measure(generator, sides[which], pace));
  }
  const byRound = (share: (ours: Round, yardstick: Round) => number) =>
    spread(results.ours.flatMap((round, index) => {
      const other = results.yardstick[index];
      return other === undefined ? [] : [share(round, other)];
    }));
  return {
    ours: summarize(ours.name, results.ours),
    yardstick: summarize(yardstick.name, results.yardstick),
    ratio: byRound((ours, other) => ours.requestsPerSecond / other.requestsPerSecond),
    cpuRatio: byRound((ours, other) => other.cpu / ours.cpu),
  };
}

/** One run of one side. */
export async function measure(
  generator: Generator,
  side: Side,
  pace: { seconds: number; connections: number },
): Promise<Round> {
  const before = cpuOf(side);
  const result: LoadResult = await generator.run({
    ...side.plan,
    seconds: pace.seconds,
    connections: pace.connections,
  });
  return {
    requestsPerSecond: result.requests / result.seconds,
    cpu: cpuSince(before, side) / result.requests,
    p50: result.p50,
    p99: result.p99,
  };
}

/** By process, in microseconds. What has just ended is left out. */
function cpuOf({ pids }: Side): Map<number, number> {
  return new Map(
    pids().flatMap((pid): [number, number][] => {
      const used = cpuMicroseconds(pid);
      return used === undefined ? [] : [[pid, used]];
    }),
  );
}

/** What the side used since then. A process that has ended takes its last use with it. */
function cpuSince(before: Map<number, number>, side: Side): number {
  return [...cpuOf(side)].reduce((sum, [pid, used]) => sum + used - (before.get(pid) ?? 0), 0);
}

function summarize(name: string, rounds: Round[]): SideResult {
  const of = (key: keyof Round) => spread(rounds.map((round) => round[key]));
  return {
    name,
    rounds,
    requestsPerSecond: of('requestsPerSecond'),
    cpu: of('cpu'),
    p50: of('p50'),
    p99: of('p99'),
  };
}
