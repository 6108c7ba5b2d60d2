// Audit logs read by the plainest way there is, to hold pages, exports, numbers and totals against.
import { expect } from 'vitest';
import {
  type AuditFilter,
  type AuditQuery,
  type AuditScope,
  listAudit,
  listAuditBefore,
} from '../../storage/audit/listing.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import type { ServerSchema } from '../../storage/sessions.ts';

/** A row, as far as it is asked for. */
export interface PlainRow {
  id: string;
  ts: Date;
  actor: string;
  action: string;
  app_schema: string | null;
}

const filters: AuditFilter[] = [
  {},
  { action: '' },
  { action: 'LOGIN' },
  { action: '_' },
  { action: '%' },
  { action: '\\' },
  { action: 'nothing' },
  { actor: 'ada@example.com' },
  { actor: '' },
  { actor: 'system', action: 'set' },
  { actor: "o'neil", action: "'; --" },
];

/** All rows in the order of the list. */
export async function plainRows(
  connection: Connection,
  schema: ServerSchema = 'workspace',
): Promise<PlainRow[]> {
  return [
    ...await connection.run((sql) =>
      sql<PlainRow[]>`
        select log.id, log.ts, log.actor, log.action, to_jsonb(log) ->> 'app_schema' as app_schema
        from ${sql(schema)}.audit_log as log left join ${sql(schema)}.audit_seals as seal using (id)
        order by seal.seq desc nulls first, log.id desc`
    ),
  ];
}

/** That every page and every export of many filters is what it should be, while nobody writes. */
export async function expectExact(connection: Connection, scopes: readonly AuditScope[]): Promise<void> {
  for (const scope of scopes) {
    const plain = await plainRows(connection, scope.schema);
    for (const filter of filters) {
      const wanted = plain.filter((row) =>
        (scope.appSchema === undefined || row.app_schema === scope.appSchema) &&
        row.action.toLowerCase().includes((filter.action ?? '').toLowerCase()) &&
        (filter.actor === undefined || row.actor === filter.actor)
      ).map(({ id }) => id);
      expect([filter, await exportedIds(connection, { scope, filter })]).toEqual([filter, wanted]);
      for (const per_page of [3, 40]) {
        for (let page = 1; page <= wanted.length / per_page + 2; page++) {
          const found = await connection.run((sql) =>
            listAudit(sql, { scope, filter }, { page, per_page, count: true })
          );
          const slice = wanted.slice((page - 1) * per_page, page * per_page);
          const ids = found.items.map(({ id }) => id);
          expect([filter, page, found.total_items, ids]).toEqual([filter, page, wanted.length, slice]);
        }
      }
    }
  }
}

/** What an export reads, in pieces of seven; `meanwhile` happens between them. */
export async function exportedIds(
  connection: Connection,
  question: AuditQuery,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const before = ids.at(-1);
    const piece = await connection.run((sql) => listAuditBefore(sql, question, { before, limit: 7 }));
    ids.push(...piece.map(({ id }) => id));
    if (piece.length < 7) return ids;
    await meanwhile();
  }
}

/** That the numbers of a workspace's log have neither gaps nor doubles, and that the totals are what there is. */
export async function expectSound(connection: Connection): Promise<void> {
  const [numbers] = await connection.run((sql) =>
    sql`
      select count(*) filter (where nth - least_nth + 1 <> of_action)::int as of_action,
        count(*) filter (where nth_of_actor - least_of_actor + 1 <> of_actor)::int as of_actor,
        count(*) filter (where nth_in_app - least_in_app + 1 <> in_app)::int as in_app,
        count(*) filter (where nth_of_actor_in_app - least_of_both + 1 <> of_both)::int as of_both,
        count(*) filter (where (app_schema is null) <> (nth_in_app is null))::int as scope
      from (
        select *, row_number() over by_action as of_action, first_value(nth) over by_action as least_nth,
          row_number() over by_actor as of_actor, first_value(nth_of_actor) over by_actor as least_of_actor,
          row_number() over by_app as in_app, first_value(nth_in_app) over by_app as least_in_app,
          row_number() over by_both as of_both, first_value(nth_of_actor_in_app) over by_both as least_of_both
        from workspace.audit_seals
        window by_action as (partition by action order by seq), by_actor as (partition by actor, action order by seq),
          by_app as (partition by app_schema, action order by seq),
          by_both as (partition by app_schema, actor, action order by seq)
      ) as numbered`
  );
  expect(numbers).toEqual({ of_action: 0, of_actor: 0, in_app: 0, of_both: 0, scope: 0 });
  const counted = await connection.run((sql) =>
    sql`
      select app_schema, action, actor, rows::int, last::int from workspace.audit_totals
      order by app_schema, action, actor`
  );
  const plain = await connection.run((sql) =>
    sql`
      select '' as app_schema, action, actor, count(*)::int as rows,
        case when grouping(actor) = 1 then max(nth) else max(nth_of_actor) end::int as last
      from workspace.audit_seals group by grouping sets ((action), (action, actor))
      union all
      select app_schema, action, actor, count(*)::int,
        case when grouping(actor) = 1 then max(nth_in_app) else max(nth_of_actor_in_app) end::int
      from workspace.audit_seals where app_schema is not null
      group by grouping sets ((app_schema, action), (app_schema, action, actor))
      order by app_schema, action, actor`
  );
  expect([...counted]).toEqual([...plain]);
}
