// Which of some records pass which conditions, for records that may have changed or gone since they were read.
import type { AppDefinition, CollectionDefinition } from '../../definition.ts';
import type { Sql } from '../../connections/pool.ts';
import { JsonText } from '../../sql/json-text.ts';
import { quoteLiteral } from '../../sql/quote.ts';
import { formatArray } from '../../sql/text-array.ts';
import { selectRows } from '../../sql/rows.ts';
import { kinds } from '../fields/kinds.ts';
import type { FilterRecord } from '../filter/column-value.ts';
import type { FilterSource } from '../filter/source.ts';
import { qualified } from '../tables.ts';
import { candidateOfJson } from './candidate-row.ts';
import { planFor, type RecordPlan } from './plan.ts';
import type { PlannedField } from './planned-field.ts';
import { type Restriction, whereSql } from './restriction.ts';

/** Records that were deleted together, by their collections. */
export type LostRecords = ReadonlyMap<string, readonly FilterRecord[]>;

/** A record, and those that were deleted along with it and still count as related to it. */
export interface ReadRecord {
  record: FilterRecord;
  lost: LostRecords | undefined;
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
  const lost = new LostRows(app, records);
  const values = JSON.stringify(records.map((read) => [rowOf(plan, read.record), lost.numberOf(read)]));
  const most = Math.max(1, Math.floor(maxPairs / records.length));
  for (const [where, asked] of groupByText(questions, lost)) {
    const text = `${lost.tables}select q."position"::int, v."position"::int ` +
      'from jsonb_array_elements($1::text::jsonb) with ordinality as q("params", "position") ' +
      'cross join jsonb_array_elements($2::text::jsonb) with ordinality as v("value", "position") ' +
      `cross join lateral ${candidateOfJson(plan.fields, `(v."value" -> 0)`)} where ${where || 'true'}`;
    for (let from = 0; from < asked.length; from += most) {
      const some = asked.slice(from, from + most);
      const params = JSON.stringify(some.map((question) => question.params));
      for (const row of await selectRows(sql, { text }, [params, values, ...lost.params])) {
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
  lost: LostRows,
): Map<string, Question[]> {
  const groups = new Map<string, Question[]>();
  for (const [position, restrictions] of questions.entries()) {
    const { text, params } = whereSql(restrictions, 0, {
      parameter: (number) => `(q."params" ->> ${number})`,
      table: (source) => lost.tableOf(source),
    });
    const group = groups.get(text) ?? [];
    group.push({ position, params });
    groups.set(text, group);
  }
  return groups;
}

/** The lost records of some records, as tables of one statement in which each deletion has a number. */
class LostRows {
  readonly #deletions: readonly LostRecords[];
  /** By collection, with the name of its table. */
  readonly #plans: ReadonlyMap<string, { plan: RecordPlan; name: string }>;

  constructor({ schema, collections }: AppDefinition, records: readonly ReadRecord[]) {
    this.#deletions = [...new Set(records.flatMap(({ lost }) => lost ?? []))];
    const ids = new Set(this.#deletions.flatMap((lost) => [...lost.keys()]));
    this.#plans = new Map([...ids].flatMap((id, index) => {
      const collection = collections.get(id);
      return collection === undefined
        ? []
        : [[id, { plan: planFor(schema, collection), name: `lost_${index}` }]];
    }));
  }

  /** The number of the deletion that a record was part of; null for a record that is still there. */
  numberOf({ lost }: ReadRecord): number | null {
    return lost === undefined ? null : this.#deletions.indexOf(lost) + 1;
  }

  /** The beginning of a statement, with a table for each collection; its parameter is number 3. */
  get tables(): string {
    if (this.#plans.size === 0) return '';
    const tables = this.#plans.entries().map(([id, { plan, name }]) =>
      `${name} as materialized (select s."number", r.* ` +
      'from jsonb_array_elements($3::text::jsonb) with ordinality as s("lost", "number") ' +
      `cross join lateral jsonb_array_elements(s."lost" -> ${quoteLiteral(id)}) as d("row") ` +
      `cross join lateral ${candidateOfJson(plan.fields, 'd."row"')})`
    );
    return `with ${[...tables].join(', ')} `;
  }

  get params(): string[] {
    if (this.#plans.size === 0) return [];
    const rows = this.#deletions.map((lost) =>
      Object.fromEntries(
        this.#plans.entries().map((
          [id, { plan }],
        ) => [id, lost.get(id)?.map((each) => rowOf(plan, each)) ?? []]),
      )
    );
    return [JSON.stringify(rows)];
  }

  /** A table together with what was deleted from it along with the record. */
  tableOf({ id, table }: FilterSource): string {
    const known = this.#plans.get(id);
    if (known === undefined) return qualified(table);
    const { plan: { written }, name } = known;
    return `(select ${written} from ${qualified(table)} union all select ${written} ` +
      `from ${name} where "number" = (v."value" ->> 1)::bigint)`;
  }
}

function rowOf({ fields }: RecordPlan, record: FilterRecord): unknown[] {
  const { id, created_at, updated_at } = record;
  return [id, created_at, updated_at, ...fields.map((planned) => textOf(planned, record))];
}

/** A value as the text that PostgreSQL casts. That of a `json` field may have been parsed by now. */
function textOf({ field: { name, kind, many } }: PlannedField, { fields }: FilterRecord): string | null {
  const value = fields[name] ?? null;
  if (value === null) return null;
  if (value instanceof JsonText) return value.text;
  if (many === true) return Array.isArray(value) ? formatArray(value.map(String)) : null;
  return kinds[kind].comparable === 'json' ? JSON.stringify(value) : String(value);
}
