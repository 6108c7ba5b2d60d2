// Random filters on random records for random requests: both meanings must select the same.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FilterError } from '../../../../storage/app/filter/parse/error.ts';
import { compilePredicate } from '../../../../storage/app/filter/evaluate.ts';
import { decideEarly, fold, foldEarly, isClosed, type Residue } from '../../../../storage/app/filter/fold.ts';
import { toSql } from '../../../../storage/app/filter/sql/to-sql.ts';
import { conditionOf, type FilteredTables, makeTables } from './fixture.ts';
import { expectParametersOnly } from './sql-tokens.ts';
import { fillAtRandom, filter, request } from './random.ts';
import { filterOfMany } from './random-many.ts';

/** A literal cannot be read as the type of a random column; that is so before either meaning comes into it. */
function isRefused(written: string): boolean {
  try {
    conditionOf(written);
    return false;
  } catch (error) {
    if (error instanceof FilterError && error.code === 'parse_error') return true;
    throw error;
  }
}

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makeTables());
  await fillAtRandom(tables, {
    posts: 150,
    userOf: (_id, index) => ({
      email: index === 0 ? 'ada@example.com' : 'bob@example.com',
      verified: index > 0,
    }),
  });
}, 60_000);

afterAll(() => drop());

it('both meanings select the same, and what is decided early is decided right', async () => {
  let [selective, refused, early, open] = [0, 0, 0, 0];
  const total = tables.records('posts').length;
  await fc.assert(
    fc.asyncProperty(filterOfMany, request, async (written, values) => {
      if (isRefused(written)) {
        refused++;
        return;
      }
      const { sql, memory } = await tables.select(written, { request: values });
      expect(sql).toEqual(memory);
      if (sql.length > 0 && sql.length < total) selective++;
      const condition = conditionOf(written);
      const decided = decideEarly(condition, values);
      if (decided !== undefined) early++;
      if (decided !== undefined) expect(sql.length).toBe(decided ? total : 0);
      const residue = fold(condition, values);
      const known = foldEarly(condition, values);
      if (isClosed(known)) expect(known).toEqual(residue);
      else open++;
      const { text: sqlText, params } = toSql(residue, { alias: 'r', firstParameter: 1 });
      expectParametersOnly(sqlText, params);
    }),
    { numRuns: 2_000 },
  );
  // The filters are useful: most are valid, and many select some of the records.
  expect(refused).toBeLessThan(1_000);
  expect(selective).toBeGreaterThan(300);
  expect(early).toBeGreaterThan(50);
  expect(open).toBeGreaterThan(20);
}, 120_000);

it('a guard hides the same related records in SQL as a caller does in memory', async () => {
  const guards = ["name = 'a'", 'age > 1', "meta.a = 'a' || friend = null", 'company.name != null'];
  await fc.assert(
    fc.asyncProperty(filter, request, fc.constantFrom(...guards), async (written, values, guarded) => {
      const residueOf = (target: string): Residue =>
        target === 'authors'
          ? fold(conditionOf(guarded, tables.scope('authors')), values)
          : { kind: 'constant', passes: target !== 'users' };
      if (isRefused(written)) return;
      const { sql } = await tables.select(written, { request: values, guard: residueOf });
      const visible = compilePredicate(conditionOf(guarded, tables.scope('authors')));
      const predicate = compilePredicate(conditionOf(written));
      const memory = tables.records('posts').filter((post) => {
        const subject = tables.subject(
          'posts',
          post,
          (target, found) =>
            target === 'authors'
              ? visible(tables.subject('authors', found), values) === true
              : target !== 'users',
        );
        return predicate(subject, values) === true;
      });
      expect(sql).toEqual(memory.map(({ fields }) => String(fields['key'])).sort());
    }),
    { numRuns: 500 },
  );
}, 120_000);
