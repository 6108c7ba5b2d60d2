// A search finds nothing of records that the caller may not list: no record, total, rank, error or similar word.
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk } from '../../../harness/api.ts';
import { type EndUser, owner, type Scenario, scenario, title, titlesOf } from '../../../harness/scenario.ts';

let made: Scenario;
let one: EndUser;
let other: EndUser;
let notes: string;

beforeAll(async () => {
  made = await scenario({
    collections: { notes: [{ ...title, search: true }, owner] },
    rules: { notes: { list: 'owner = @request.auth.id' } },
  });
  notes = made.records('notes');
  [one, other] = [await made.user(), await made.user()];
  for (const words of ['secret plans', 'secret secrets', 'common']) {
    await made.make(notes, { title: words, owner: one.id });
  }
  await made.make(notes, { title: 'common secrit', owner: other.id });
});

it('whoever may list nothing finds nothing', async () => {
  const third = await made.user();
  for (const search of ['secret', 'secrte', 'sec', 'common']) {
    for (const more of ['', '&sort=-@rank', '&page=2', '&skip_total=true']) {
      const page = expectOk(await third.get(`${notes}?search=${search}${more}`));
      const total = more === '&skip_total=true' ? -1 : 0;
      expect(page).toMatchObject({ items: [], total_items: total, next_cursor: null });
    }
  }
  expect((await as().get(`${notes}?search=secret`)).status).toBe(401);
});

it('words of others do not keep similar ones from being found', async () => {
  expect(titlesOf(await other.get(`${notes}?search=secret`))).toEqual(['common secrit']);
  expect(titlesOf(await one.get(`${notes}?search=secret`))).toEqual(['secret plans', 'secret secrets']);
});

it('an order by rank takes the newest of the records of the caller', async () => {
  expect(titlesOf(await other.get(`${notes}?search=common&sort=-@rank`))).toEqual(['common secrit']);
  expect(titlesOf(await one.get(`${notes}?search=common&sort=-@rank`))).toEqual(['common']);
});

it('a caller whom the rule refuses whatever the records are learns nothing of fields', async () => {
  await made.setRules('notes', { list: 'admin' });
  const searched = await one.get(`${notes}?search=${'x'.repeat(300)}`);
  expect([searched.status, searched.body.code]).toEqual([403, 'forbidden']);
});
