// Storms of logins: what record reads have of a server beside them, and how much memory they add to it.
import { besideBusyLoops } from './busy-loops.ts';
import type { Figure } from './findings.ts';
import { type LoadResult, startGenerator } from './load.ts';
import { startLoadProcess } from './load-process.ts';
import { beginPeak, peakMebibytes } from './proc.ts';
import { calmReads, type RecordStage } from './stage.ts';
import { spread } from './statistics.ts';
import type { StormPlan, StormResponses } from './storm-clients.ts';

/** One round. */
export interface StormRound {
  calm: LoadResult;
  /** Beside loops of the lowest priority: what the machine allows while its cores are busy. */
  floor: LoadResult;
  /** The same, of loops that walk as much memory as a hash does. */
  walked: LoadResult;
  busy: LoadResult;
  responses: StormResponses;
  /** By how much the API grew at most. */
  mebibytes: number;
}

/** The reads of each round without storms, beside loops and during storms of these requests, in turn. */
export async function readBesideStorms(
  stage: RecordStage,
  requests: readonly string[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<StormRound[]> {
  const generator = startGenerator();
  const clients = startLoadProcess<StormPlan, StormResponses>('storm-clients.ts');
  const { port, apiPid } = stage.server;
  const reads = () => generator.run(calmReads(stage, seconds));
  const found: StormRound[] = [];
  try {
    await reads();
    for (let round = 0; round < rounds; round++) {
      const calm = await reads();
      const floor = await besideBusyLoops(reads);
      const walked = await besideBusyLoops(reads, { walking: true });
      const before = beginPeak(apiPid);
      const [busy, responses] = await Promise.all([reads(), clients.run({ port, requests, seconds })]);
      found.push({ calm, floor, walked, busy, responses, mebibytes: peakMebibytes(apiPid) - before });
    }
  } finally {
    await generator.stop();
    await clients.stop();
  }
  return found;
}

/** The goal is one of the p99. */
export function stormFigures(found: readonly StormRound[]): Figure[] {
  const besideCalm = (name: string, of: (round: StormRound) => LoadResult, share: 'p50' | 'p99'): Figure => ({
    name: `read ${share} ${name}`,
    unit: 'ms',
    ours: spread(found.map((round) => of(round)[share])),
    baseline: spread(found.map(({ calm }) => calm[share])),
    ratio: spread(found.map((round) => of(round)[share] / round.calm[share])),
  });
  const p99 = besideCalm('in a storm', ({ busy }) => busy, 'p99');
  const reached = (p99.ratio?.median ?? Number.NaN) <= 2;
  return [
    { ...p99, goal: { text: 'at most 2 times', reached } },
    besideCalm('beside idle loops', ({ floor }) => floor, 'p99'),
    besideCalm('beside walking loops', ({ walked }) => walked, 'p99'),
    besideCalm('in a storm', ({ busy }) => busy, 'p50'),
    { name: 'memory of a storm', unit: 'MiB', ours: spread(found.map(({ mebibytes }) => mebibytes)) },
  ];
}
