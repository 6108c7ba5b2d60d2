// Each attack of one workspace in small: what another one has of the server beside it. In full: `npm run bench -- neighbours`.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attacks } from './attacks.ts';
import { measureAttack, worstFactors } from './measure.ts';
import { type Neighbourhood, openNeighbourhood } from './stage.ts';

let neighbourhood: Neighbourhood & AsyncDisposable;
beforeAll(async () => {
  neighbourhood = await openNeighbourhood();
});
afterAll(() => neighbourhood[Symbol.asyncDispose]());

it.each(Object.entries(attacks).map(([name, attack], index) => ({ name, attack, id: `evil${index}` })))(
  'the neighbour of $name has every response',
  async ({ name, attack, id }) => {
    const outcome = await measureAttack(neighbourhood, { id, attack }, {
      size: 'small',
      seconds: 2,
      perSecond: 10,
    });
    const { p50, p99 } = worstFactors(outcome);
    console.log(`${name}: p50 ${p50.toFixed(1)} times, p99 ${p99.toFixed(1)} times`, outcome.received);
    expect(outcome.beside.refused).toEqual([]);
  },
  120_000,
);
