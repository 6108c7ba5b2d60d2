// One attack: what the neighbour sees while nothing happens, and what beside it.
import { startLoadProcess } from '../bench/load-process.ts';
import { type Attack, type Size } from './attacks.ts';
import type { AttackPlan, Received } from './plan.ts';
import { makeEvil, type Neighbourhood, removeEvil } from './stage.ts';
import { type Kind, live, type Seen } from './victim.ts';

/** How long the neighbour is watched, and how often it does each of its four requests. */
export interface Watch {
  size: Size;
  seconds: number;
  perSecond: number;
}

/** What came of an attack. */
export interface Outcome {
  calm: Seen;
  beside: Seen;
  /** What the attackers received. */
  received: Received;
}

/** Makes what the attack needs in a workspace of its own, measures, attacks and measures again. */
export async function measureAttack(
  neighbourhood: Neighbourhood,
  { id, attack }: { id: string; attack: Attack },
  watch: Watch,
): Promise<Outcome> {
  const { victim, server } = neighbourhood;
  const attackers = startLoadProcess<AttackPlan, Received>('../neighbours/attackers.ts');
  const evil = await makeEvil(neighbourhood, id);
  try {
    // The first requests after a rest open connections.
    await live(victim, { seconds: 1, perSecond: watch.perSecond });
    const calm = await live(victim, watch);
    const load = await attack(evil, watch.size);
    const [received, beside] = await Promise.all([
      attackers.run({ ...load, port: server.port, seconds: watch.seconds + 1 }),
      live(victim, watch),
    ]);
    return { calm, beside, received };
  } finally {
    await attackers.stop();
    await removeEvil(neighbourhood, evil);
  }
}

/** How many times as long the neighbour's slowest kind of request takes as in calm. */
export function worstFactors({ calm, beside }: Outcome): { p50: number; p99: number } {
  const kinds: Kind[] = ['get', 'list', 'create', 'hooked create'];
  const worst = (share: 'p50' | 'p99') =>
    Math.max(...kinds.map((kind) => beside.took[kind][share] / calm.took[kind][share]));
  return { p50: worst('p50'), p99: worst('p99') };
}
