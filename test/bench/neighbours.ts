// What the attacks of one workspace cost another: the neighbour's times beside each, against its times in calm.
import { attacks } from '../neighbours/attacks.ts';
import { measureAttack, type Outcome, worstFactors } from '../neighbours/measure.ts';
import { openNeighbourhood } from '../neighbours/stage.ts';
import type { Figure, Findings } from './findings.ts';
import { spread } from './statistics.ts';

/** How large the attacks are, how long each is watched, and a part of the names of those that are wanted. */
export interface NeighbourOptions {
  isQuick: boolean;
  seconds: number;
  only: string;
}

/** Each attack once, all of them beside the same server and neighbour. */
export async function benchNeighbours({ isQuick, seconds, only }: NeighbourOptions): Promise<Findings> {
  const figures: Figure[] = [];
  const raw: Record<string, Outcome> = {};
  const size = isQuick ? 'small' : 'full';
  await using neighbourhood = await openNeighbourhood();
  for (const [index, [name, attack]] of Object.entries(attacks).entries()) {
    if (!name.includes(only)) continue;
    const watch = { size, seconds, perSecond: 10 } as const;
    const outcome = await measureAttack(neighbourhood, { id: `evil${index}`, attack }, watch);
    raw[name] = outcome;
    figures.push(...figuresOf(name, outcome));
    process.stderr.write(
      `${JSON.stringify({ name, ...worstFactors(outcome), received: outcome.received })}\n`,
    );
  }
  return {
    bench: 'neighbours',
    title: `a neighbour that gets, lists, creates and creates with a hook, beside attacks (${size})`,
    sides: ['beside the attack', 'calm'],
    figures,
    raw,
  };
}

function figuresOf(name: string, outcome: Outcome): Figure[] {
  const factors = worstFactors(outcome);
  const refused = outcome.beside.refused.length;
  const figure = (what: string, value: number, most: number): Figure => ({
    name: `${name}: ${what}`,
    unit: '',
    ours: spread([value]),
    goal: { text: `at most ${most}`, reached: value <= most },
  });
  return [
    figure('p50, times', factors.p50, 3),
    figure('p99, times', factors.p99, 5),
    figure('refused', refused, 0),
  ];
}
