// Two API processes on one port: both number records from one row of numbers.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { openPair, type Pair, untilBoth } from '../harness/two-processes.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => pair.stop());

it('numbers 100 records that both create at once without gap or double', { timeout: 60_000 }, async () => {
  const fields = [
    { name: 'team', kind: 'text', required: true },
    { name: 'number', kind: 'number', autonumber: { within: 'team' } },
  ];
  expectOk(await pair.ask('POST', `${pair.app}/collections`, { schema: { id: 'issues', fields } }));
  const records = `${pair.app}/collections/issues/records`;
  await untilBoth(() => pair.ask('GET', records), ({ status }) => status === 200);
  const created = await Promise.all(
    Array.from({ length: 100 }, (_, n) => pair.ask('POST', records, { team: n % 2 === 0 ? 'a' : 'b' })),
  );
  const numbers = (team: string) =>
    created.map((response) => expectOk(response).fields).filter((fields) => fields.team === team)
      .map((fields) => fields.number).toSorted((one, other) => one - other);
  const upTo50 = Array.from({ length: 50 }, (_, index) => index + 1);
  expect([numbers('a'), numbers('b')]).toEqual([upTo50, upTo50]);
});
