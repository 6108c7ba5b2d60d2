// Related records that a caller may not get are as if they were not there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilePredicate } from '../../../../storage/app/filter/evaluate.ts';
import { fold } from '../../../../storage/app/filter/fold.ts';
import { toSql } from '../../../../storage/app/filter/sql/to-sql.ts';
import { conditionOf, type FilteredTables, makeTables, requestOf, scopeIn } from './fixture.ts';

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makeTables());
  const author = await tables.insert('authors', { name: 'Ada' });
  await tables.insert('posts', { key: 'near', author });
  await tables.insert('posts', { key: 'far' });
});

afterAll(() => drop());

describe('what a caller may not get', () => {
  it('is not seen through a relation, in SQL by the guard, in memory by not being handed over', async () => {
    const nobody = (): { kind: 'constant'; passes: boolean } => ({ kind: 'constant', passes: false });
    const named = fold(conditionOf("name = 'Ada'", scopeIn(tables.app, 'authors')), requestOf());
    const rule = "author.name ~ 'a%'";
    const turned = "!(author.name ~ 'a%')";
    expect((await tables.select(rule)).sql).toEqual(['near']);
    expect((await tables.select(rule, { guard: () => named })).sql).toEqual(['near']);
    expect((await tables.select(rule, { guard: nobody })).sql).toEqual([]);
    expect((await tables.select(turned, { guard: nobody })).sql).toEqual(['far', 'near']);
    expect((await tables.select('author.name = author.name', { guard: nobody })).sql).toEqual([]);
    const predicate = compilePredicate(conditionOf(rule));
    const passing = tables.records('posts').filter((record) => predicate({ record }, requestOf()) === true);
    expect(passing).toEqual([]);
  });

  it('is judged by the collection that the relation leads to', async () => {
    const asked: string[] = [];
    const guard = (target: string) => {
      asked.push(target);
      return { kind: 'constant', passes: true } as const;
    };
    await tables.select("author.company.name = 'x' || owner.verified = true", { guard });
    expect(asked).toEqual(['authors', 'companies', 'users']);
  });
});

/** How PostgreSQL finds the records that a filter selects. */
async function planOf(filter: string, guard?: string): Promise<string> {
  const residue = fold(conditionOf(filter), requestOf());
  const place = { alias: 'r', firstParameter: 1 };
  const rule = guard === undefined
    ? undefined
    : fold(conditionOf(guard, scopeIn(tables.app, 'authors')), requestOf());
  const { text, params } = toSql(residue, rule === undefined ? place : { ...place, guard: () => rule });
  const rows = await tables.pool.run((sql) =>
    sql.unsafe(`explain select from "filtered app".posts as r where ${text}`, params).values()
  );
  return rows.join('\n');
}

/** Relations that are followed, each to another record. */
const ways = ['author', 'editor', 'owner'].concat(
  ['author', 'editor'].flatMap((first) =>
    ['friend', 'company', 'friend.company'].map((then) => `${first}.${then}`)
  ),
);

const stepsIn = (plan: string) => plan.match(/^ *SubPlan .*/gm)?.length ?? 0;

describe('tests of related records', () => {
  it('are joins as long as there are few of them', async () => {
    const steps = async (count: number, guard?: string) =>
      stepsIn(await planOf(ways.slice(0, count).map((way) => `${way}.id != null`).join(' && '), guard));
    expect(await steps(8)).toBe(0);
    expect(await steps(9)).toBe(9);
    expect(await steps(2, "company.name != 'x'")).toBe(2);
  });

  it.each([['&&', '='], ['||', '='], ['&&', '!='], ['||', '!=']])(
    'are one for all tests of the same record that %s ties (%s)',
    async (tie, operator) => {
      const tests = [`author.name ${operator} 'x'`, 'done = true', `author.age ${operator} 1`];
      const plan = await planOf([...tests, `author.friend.name ${operator} 'x'`].join(` ${tie} `));
      expect(plan.match(/ on authors related_/g)).toHaveLength(3);
    },
  );
});

describe('tests that may take long in a single record', () => {
  it('are steps of the plan, between which PostgreSQL can be interrupted', async () => {
    const steps = async (filter: string) => stepsIn(await planOf(filter));
    for (
      const look of ["title ~ 'a%b'", '!(title !~ subtitle)', 'meta.a = 1', 'meta != null', 'views = meta']
    ) {
      expect([look, await steps(`${look} || done = true || ${look}`)]).toEqual([look, 2]);
    }
  });

  it('stay apart when they are of the same related record', async () => {
    for (const look of ["author.name ~ 'a%b'", 'author.meta.a = 1']) {
      expect((await planOf(`${look} || ${look}`)).match(/ on authors related_/g)).toHaveLength(2);
    }
  });
});
