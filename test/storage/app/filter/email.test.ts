// Email addresses are stored in lower case and compare without regard to case, in SQL and in memory.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FilteredTables, makeTables, requestOf } from './fixture.ts';

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makeTables());
  const owner = await tables.insertUser({ email: 'kim@example.com', verified: true });
  await tables.insert('posts', { key: 'kim', mail: 'Kim@Example.com', title: 'Kim@Example.com', owner });
  await tables.insert('posts', { key: 'none' });
});

afterAll(() => drop());

/** What a filter selects in both meanings. */
async function expectBoth(filter: string, keys: readonly string[], request = requestOf()): Promise<void> {
  expect(await tables.select(filter, { request }), filter).toEqual({ sql: keys, memory: keys });
}

describe('an address', () => {
  it.each([
    ["mail = 'KIM@example.COM'", ['kim']],
    ["'KIM@example.COM' = mail", ['kim']],
    ["mail != 'KIM@example.COM'", ['none']],
    ["mail in ['x', 'Kim@Example.com']", ['kim']],
    ["mail >= 'KIM' && mail < 'KIN'", ['kim']],
    ["owner.email = 'Kim@example.com'", ['kim']],
    ["owner.email = mail && mail ~ 'KIM@'", ['kim']],
  ])('is found by %s', async (filter, keys) => {
    await expectBoth(filter, keys);
  });

  it.each(['mail = @request.body.x', 'owner.email = @request.body.x', 'mail = @request.query.x'])(
    'is found by what a request says, in %s',
    async (filter) => {
      const said = { x: 'KIM@example.com' };
      await expectBoth(filter, ['kim'], requestOf({ body: said, query: said }));
      await expectBoth(`!(${filter})`, ['none'], requestOf({ body: said, query: said }));
    },
  );

  it("is the caller's, too", async () => {
    const kim = requestOf({
      auth: { id: '1', email: 'kim@example.com', role: 'user' },
      body: { x: 'Kim@Example.com' },
    });
    await expectBoth("@request.auth.email = 'Kim@Example.com'", ['kim', 'none'], kim);
    await expectBoth("@request.auth.email != 'Kim@Example.com'", [], kim);
    await expectBoth("!('KIM@example.com' in [@request.auth.email])", [], kim);
    await expectBoth('@request.auth.email = @request.body.x', ['kim', 'none'], kim);
    await expectBoth('title = @request.auth.email', [], kim);
  });

  it('is not that of somebody whose letters only become these in lower case', async () => {
    const kelvin = '\u212Aim@example.com';
    expect(kelvin.toLowerCase()).toBe('kim@example.com');
    await expectBoth(`mail = '${kelvin}'`, []);
    await expectBoth('mail = @request.body.x', [], requestOf({ body: { x: kelvin } }));
  });

  it('leaves other texts to be compared letter by letter', async () => {
    await expectBoth("title = 'kim@example.com'", []);
    await expectBoth("title = 'Kim@Example.com'", ['kim']);
    await expectBoth("title = '' || @request.body.x = 'KIM'", [], requestOf({ body: { x: 'kim' } }));
  });
});
