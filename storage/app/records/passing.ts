// Which of some records pass which conditions, for records that may have changed or gone since they were read.
import type { Sql } from '../../connections/pool.ts';
import { JsonText } from '../../sql/json-text.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import { selectRows } from '../../sql/rows.ts';
import type { FilterRecord } from '../filter/evaluate.ts';
import type { FilterSource } from '../filter/source.ts';
import { qualified } from '../tables.ts';
import { candidateOfJson } from './candidate-row.ts';
import { planFor, type RecordPlan } from './plan.ts';
import { type Restriction, whereSql } from './restriction.ts';
import type { AppDefinition, CollectionDefinition } from '../../definition.ts';

/** A record, and records that were deleted along with it and still count as related to it, by their collections. */
export interface ReadRecord {
  record: FilterRecord;
  deleted: ReadonlyMap<string, readonly FilterRecord[]>;
}

/** Pairs of a record and a question that one statement decides, at most. */
const maxPairs = 10_000;

/**
 * For each question, the positions of the records that pass all of its restrictions. Related records are read as they are
 * now. Questions that differ in their values alone are asked in one statement.
 */
export async function selectPassing(
  sql: Sql,
  { app, collection }: { app: AppDefinition; collection: CollectionDefinition },
  records: readonly ReadRecord[],
  questions: readonly (readonly Restriction[])[],
): Promise<ReadonlySet<number>[]> {
  const passing = questions.map(() => new Set<number>());
  const plan = planFor(app.schema, collection);
  const deleted = new Map(
    records.flatMap((record) => [...record.deleted.keys()]).map((id) => [id, planOf(app, id)]),
  );
  const values = JSON.stringify(records.map((record) => ({
    row: rowOf(plan, record.record),
    gone: Object.fromEntries(
      record.deleted.entries().map(([id, gone]) => [id, gone.map((each) => rowOf(planOf(app, id), each))]),
    ),
  })));
  const most = Math.max(1, Math.floor(maxPairs / records.length));
  for (const [where, asked] of groupByText(questions, deleted)) {
    for (let from = 0; from < asked.length; from += most) {
      const some = asked.slice(from, from + most);
      const params = JSON.stringify(some.map((question) => question.params));
      for (const row of await selectRows(sql, { text: statement(plan, where) }, [params, values])) {
        const question = some[Number(row[0]) - 1];
        if (question !== undefined) passing[question.position]?.add(Number(row[1]) - 1);
      }
    }
  }
  return passing;
}

interface Question {
  position: number;
  params: (string | number)[];
}

function groupByText(
  questions: readonly (readonly Restriction[])[],
  deleted: ReadonlyMap<string, RecordPlan>,
): Map<string, Question[]> {
  const groups = new Map<string, Question[]>();
  for (const [position, restrictions] of questions.entries()) {
    const { text, params } = whereSql(restrictions, 0, {
      parameter: (number) => `(q."params" ->> ${number})`,
      table: (source) => withDeleted(source, deleted.get(source.id)),
    });
    const group = groups.get(text) ?? [];
    group.push({ position, params });
    groups.set(text, group);
  }
  return groups;
}

function statement(plan: RecordPlan, where: string): string {
  return 'select q."position"::int, v."position"::int ' +
    'from jsonb_array_elements($1::text::jsonb) with ordinality as q("params", "position") ' +
    'cross join jsonb_array_elements($2::text::jsonb) with ordinality as v("value", "position") ' +
    `cross join lateral ${candidateOfJson(plan.fields, `(v."value" -> 'row')`)} where ${
      where === '' ? 'true' : where
    }`;
}

/** A table together with what was deleted from it along with the record. */
function withDeleted({ id, table }: FilterSource, plan: RecordPlan | undefined): string {
  if (plan === undefined) return qualified(table);
  const gone = `jsonb_array_elements(v."value" -> 'gone' -> ${quoteLiteral(id)}) as d("row")`;
  return `(select ${plan.written} from ${qualified(table)} union all ` +
    `select ${plan.written} from ${gone} cross join lateral ${candidateOfJson(plan.fields, 'd."row"')})`;
}

function planOf({ schema, collections }: AppDefinition, id: string): RecordPlan {
  const collection = collections.get(id);
  if (collection === undefined) throw new TypeError(`no collection ${quoteIdentifier(id)}`);
  return planFor(schema, collection);
}

function rowOf({ fields }: RecordPlan, record: FilterRecord): unknown[] {
  return [
    record.id,
    record.created_at,
    record.updated_at,
    ...fields.map(({ field }) => textOf(record.fields[field.name])),
  ];
}

/** A value as the text that PostgreSQL casts. */
function textOf(shown: unknown): string | null {
  if (shown === undefined || shown === null) return null;
  if (shown instanceof JsonText) return shown.text;
  return typeof shown === 'object' ? JSON.stringify(shown) : String(shown);
}
