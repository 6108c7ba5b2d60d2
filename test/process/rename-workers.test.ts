// Two API processes on one port: a field that one has renamed has its new name in the other, while both write.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { openPair, type Pair, untilBoth } from '../harness/two-processes.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => pair.stop());

it('both read and write under the new name, and no record loses its value', { timeout: 60_000 }, async () => {
  const path = pair.records.slice(0, -'/records'.length);
  const { id } = expectOk(await pair.ask('POST', pair.records, { title: 'first' }));
  const read = () => pair.ask('GET', `${pair.records}/${id}`);
  await untilBoth(read, ({ body }) => body.fields.title === 'first');
  const names = ['title', 'headline', 'title'];
  for (const [round, was] of names.slice(0, -1).entries()) {
    const name = names[round + 1] ?? '';
    let writing = true;
    const writer = async () => {
      while (writing) {
        const response = await pair.ask('PATCH', `${pair.records}/${id}`, {
          [round === 0 ? 'title' : 'headline']: 'x',
        });
        // The old name is known, or it is not; nothing else.
        expect([200, 400]).toContain(response.status);
      }
    };
    const writers = [writer(), writer()];
    expectOk(await pair.ask('PATCH', path, { schema: { fields: [{ name, kind: 'text', was }] } }));
    await untilBoth(read, ({ body }) => Object.keys(body.fields).join() === name);
    writing = false;
    await Promise.all(writers);
    expectOk(await pair.ask('PATCH', `${pair.records}/${id}`, { [name]: `round ${round}` }));
    await untilBoth(read, ({ body }) => body.fields[name] === `round ${round}`);
  }
});
