// The records after a position in a list: ranges of an index on the field that the list is sorted by.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rangesAfter } from '../../../../storage/app/records/list-order.ts';
import { planFor, type RecordPlan } from '../../../../storage/app/records/plan.ts';
import { type BareApp, bareApp } from '../../../harness/bare-app.ts';

let app: BareApp;
let plan: RecordPlan;

beforeAll(async () => {
  app = await bareApp();
  await app.define('things', [{ name: 'n', kind: 'number', index: true }]);
  const target = await app.target('things');
  plan = planFor(target.app.schema, target.collection);
  await app.run((sql) =>
    sql.unsafe(`insert into ${plan.table} (id, created_at, updated_at, n)
      select gen_random_uuid(), now(), now(), nullif(n % 500, 7) from generate_series(1, 5000) n`)
  );
  await app.run((sql) => sql.unsafe(`analyze ${plan.table}`));
});
afterAll(() => app.end());

const id = '00000000-0000-7000-8000-000000000000';

it.each([[false, 250], [true, 250], [false, null], [true, null]])(
  'descending: %s, after the value %s',
  async (descending, value) => {
    const sort = [{ column: 'n', descending }];
    const place = { columnSql: plan.rows.columnSql, firstParameter: 1 };
    const ranges = rangesAfter(sort, { values: [value], id }, place);
    // Records without a value come last, so some come after a value upwards, and those with one after none downwards.
    expect(ranges).toHaveLength((value === null) === descending ? 2 : 1);
    for (const range of ranges) {
      const { text } = plan.list({ sort, withSnapshot: false }, range, false);
      const rows = await app.run((sql) => sql.unsafe(`explain ${text}`, [...range.params, 31, 0]));
      const steps = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
      expect(steps).toMatch(/Index Cond: \(n /);
      expect(steps).not.toMatch(/Seq Scan/);
    }
  },
);
