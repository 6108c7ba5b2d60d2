// Cursors under rules, and of records that show fields of their users.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { owner, type Scenario, scenario, title, titlesOf } from '../../harness/scenario.ts';

let made: Scenario;
let admin: Caller;

beforeAll(async () => {
  made = await scenario();
  ({ admin } = made);
});

/** The ids of all pages of a list, which end with a null. */
async function walk(
  query: string,
  { caller = admin, records }: { caller?: Caller; records: string },
): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor = '';
  for (;;) {
    const page = expectOk(await caller.get(`${records}?${query}${cursor}`));
    pages.push(page.items.map(({ id }: { id: string }) => id));
    expect(page.page).toBe(pages.length);
    if (page.next_cursor === null) return pages;
    expect(page.next_cursor).toMatch(/^[\w-]+$/);
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('what the list rule hides', () => {
  it('is on no page, and makes no cursor', async () => {
    const [ada, bob] = [await made.user(), await made.user()];
    const notes = await made.define('notes', [title, owner], { list: 'owner = @request.auth.id' });
    for (const { id } of [ada, bob, ada, bob]) await made.make(notes, { title: id, owner: id });
    expect((await walk('sort=-title&per_page=1', { caller: ada, records: notes })).flat()).toHaveLength(2);
    expect(expectOk(await ada.get(`${notes}?per_page=2`)).next_cursor).toBe(null);
    const { next_cursor } = expectOk(await ada.get(`${notes}?per_page=1`));
    // It is a place in the list and no right to see it.
    expect(titlesOf(await bob.get(`${notes}?cursor=${next_cursor}`))).toEqual([bob.id, bob.id]);
    expect(await as().get(`${notes}?cursor=${next_cursor}`)).toMatchObject({ status: 401 });
    await made.setRules('notes', { list: 'admin' });
    expect(await ada.get(`${notes}?cursor=${next_cursor}`)).toMatchObject({ status: 403 });
  });
});

it('users and profiles are paged by what they show, whatever their times are exactly', async () => {
  expectOk(await admin.post(made.collections, { schema: { id: 'members', kind: 'auth', fields: [] } }));
  const members = made.records('members');
  const people = [await made.user(), await made.user(), await made.user(), await made.user()];
  for (const { email } of people) await made.make(members, { email });
  await made.inDatabase(async (sql) => {
    const [a, b, c] = people.map(({ id }) => id);
    for (const [id, time] of [[a, '.0004001'], [b, '.0004'], [c, '.0002']]) {
      await sql.unsafe(
        `update workspace.users set last_login = '2026-01-01T00:00:00${time}Z' where id = '${id}'`,
      );
    }
  });
  for (const records of [members, made.records('users')]) {
    for (const sort of ['last_login', '-last_login', 'email', '-verified,-created_at', 'oauth_providers']) {
      const all = expectOk(await admin.get(`${records}?sort=${sort}`)).items.map(({ id }: { id: string }) =>
        id
      );
      expect((await walk(`sort=${sort}&per_page=1`, { records })).flat(), `${records} ${sort}`).toEqual(all);
    }
  }
});
