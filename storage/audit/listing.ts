// Lists the audit logs. Rows are numbered and counted when they are sealed, so no page and no total reads the whole
// log.
import { makePage, type Page, pageOffset, type PageRequest } from '../sql/page.ts';
import type { Sql } from '../connections/pool.ts';
import type { ServerSchema } from '../sessions.ts';

/**
 * A row as it is listed. `details` includes the request's id, address and user agent, which rows hold apart; the
 * server's own actions have none of them.
 */
export interface AuditEntry {
  id: string;
  ts: Date;
  actor: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
}

/** The filter of a listing: `action` is a case-insensitive substring, `actor` is exact. */
export interface AuditFilter {
  action?: string | undefined;
  actor?: string | undefined;
}

/**
 * A log: of the system, of a workspace with all its apps, deleted ones included, or of the app with this schema. `sql`
 * must be connected to the database that has it.
 */
export interface AuditScope {
  schema: ServerSchema;
  appSchema?: string;
}

/** A log and the filter for it. */
export interface AuditQuery {
  scope: AuditScope;
  filter: AuditFilter;
}

/** The first row has the total. When no row is listed, it has nothing else. */
type ListedEntry = { total: number } & (AuditEntry | { id: null });

/** One page, newest first: waiting rows, then sealed ones from the end of the chain. Items and total are of one moment. */
export async function listAudit(
  sql: Sql,
  query: AuditQuery,
  request: PageRequest,
): Promise<Page<AuditEntry>> {
  const parts = queryParts(query);
  const rows = await sql.unsafe<ListedEntry[]>(pageText(parts, request), parts.values);
  const items = rows.flatMap(({ total: _total, ...entry }) => entry.id === null ? [] : [entry]);
  return makePage(items, rows[0]?.total ?? 0, request);
}

/**
 * At most `limit` rows after the one with the id `before`, in the order of the list. An export runs the same text many
 * times, so it is prepared.
 */
export async function listAuditBefore(
  sql: Sql,
  query: AuditQuery,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  const parts = queryParts(query);
  const values = before === undefined ? parts.values : [...parts.values, before];
  const text = restText(parts, {
    limit,
    before: before === undefined ? undefined : `$${values.length}::uuid`,
  });
  return [...await sql.unsafe<AuditEntry[]>(text, values, { prepare: true })];
}

/** The parts of the statements that follow from the query. */
interface QueryParts {
  schema: ServerSchema;
  /** Conditions on kinds. A kind is all rows of one action, of the requested scope and actor. */
  kinds: string;
  /** Conditions on rows. */
  rows: string;
  /** The columns that all kinds have in common, in the order of the index that goes on with action and position. */
  common: readonly { column: string; value: string }[];
  /** The column with a row's number in its kind. */
  number: string;
  /** True when all rows of the log are listed. */
  everything: boolean;
  values: string[];
}

function queryParts({ scope: { schema, appSchema }, filter: { action, actor } }: AuditQuery): QueryParts {
  const values: string[] = [];
  const bind = (value: string) => `$${values.push(value)}::text`;
  const app = appSchema === undefined ? [] : [{ column: 'app_schema', value: bind(appSchema) }];
  const who = actor === undefined ? [] : [{ column: 'actor', value: bind(actor) }];
  const common = [...app, ...who];
  const part = action === undefined ? undefined : bind(action);
  const named = (alias: string) =>
    part === undefined ? 'true' : `strpos(lower(${alias}.action), lower(${part})) > 0`;
  const kinds = [
    `app_schema = ${app[0]?.value ?? `''`}`,
    who[0] === undefined ? 'actor is null' : `actor = ${who[0].value}`,
    named('total'),
  ];
  return {
    schema,
    kinds: kinds.join(' and '),
    rows: [...common.map(({ column, value }) => `log.${column} = ${value}`), named('log')].join(' and '),
    common,
    number: `nth${actor === undefined ? '' : '_of_actor'}${appSchema === undefined ? '' : '_in_app'}`,
    everything: common.length === 0 && action === undefined,
    values,
  };
}

/** The limits are part of the text, which is not prepared: a plan for any limit would read far more than a page. */
function pageText(parts: QueryParts, request: PageRequest): string {
  const offset = pageOffset(request);
  const limit = request.per_page;
  const { schema, everything } = parts;
  return `
    with recursive ${kindsText(parts)},
    waiting as materialized (${waitingText(parts)}),
    counted as materialized (
      select (select count(*) from waiting) as waiting, (select coalesce(sum(rows), 0) from kinds) as sealed
    ),
    wanted as materialized (
      select greatest(${offset} - waiting, 0) as skipped, (select coalesce(max(seq), 0) from ${schema}.audit_seals) as last
      from counted
    ),
    ${everything ? `start as (select last - skipped as seq from wanted)` : searchText(parts)},
    page as (
      (select null::bigint as seq, id from waiting order by id desc limit ${limit} offset ${offset})
      union all
      (${sealedText(parts, limit)})
      order by seq desc nulls first, id desc limit ${limit}
    )
    select (counted.waiting + counted.sealed)::float8 as total, ${entryColumns}
    from counted left join (page join ${schema}.audit_log as log using (id)) on true
    order by page.seq desc nulls first, page.id desc`;
}

const entryColumns = `log.id, log.ts, log.actor, log.action, log.target,
  log.details || jsonb_strip_nulls(jsonb_build_object(
    'request_id', log.request_id, 'ip', log.ip, 'user_agent', log.user_agent)) as details`;

/**
 * Rows after a given one keep their order while rows are sealed, because rows that wait together get their seals in the
 * order of their ids. After a row that retention removed there are only other removed ones.
 */
function restText(
  parts: QueryParts,
  { before, limit }: { before: string | undefined; limit: number },
): string {
  const { schema } = parts;
  const waits = `exists (select from ${schema}.audit_queue where id = ${before})`;
  const start = before === undefined ? `${latest}` : `
    case when ${waits} then ${latest} else (select seq - 1 from ${schema}.audit_seals where id = ${before}) end`;
  return `
    with ${kindsText(parts)},
    start as materialized (select ${start} as seq),
    page as (
      (select null::bigint as seq, id from (
        ${waitingText(parts)} and ${before === undefined ? 'true' : `queue.id < ${before} and ${waits}`}
        order by queue.id desc limit ${limit}
      ) as waiting)
      union all
      (${sealedText(parts, limit)})
      order by seq desc nulls first, id desc limit ${limit}
    )
    select ${entryColumns}
    from page join ${schema}.audit_log as log using (id)
    order by page.seq desc nulls first, page.id desc`;
}

/** A position that no chain reaches. */
const latest = '9223372036854775807::bigint';

/** The kinds that exist. */
function kindsText({ schema, kinds }: QueryParts): string {
  return `kinds as materialized (
    select action, rows, last from ${schema}.audit_totals as total where ${kinds}
  )`;
}

/**
 * The rows that wait for a seal, each found by its id. The planner cannot know how few they are, and would otherwise
 * read the whole log.
 */
function waitingText({ schema, rows, everything }: QueryParts): string {
  const log = `cross join lateral (select * from ${schema}.audit_log where id = queue.id offset 0) as log`;
  return `select queue.id from ${schema}.audit_queue as queue ${everything ? '' : log} where ${rows}`;
}

/**
 * The position of the first listed row, by binary search: the first position with no more than `skipped` rows after it.
 * The number of rows of a kind after a position follows from the number of the kind's last row up to there. Before the
 * kind's oldest row, it is the number of all its rows.
 */
function searchText(parts: QueryParts): string {
  const { schema, number } = parts;
  return `
    search (low, high) as (
      select case when skipped = 0 then last else -1 end, last from wanted
      union all
      select case when later.rows > wanted.skipped then middle.seq else search.low end,
        case when later.rows > wanted.skipped then search.high else middle.seq end
      from search cross join wanted
      cross join lateral (select (search.low + search.high) / 2 as seq) as middle
      cross join lateral (
        select coalesce(sum(least(kinds.rows, kinds.last - (
          select seal.${number} from ${schema}.audit_seals as seal where ${upTo(parts, 'middle.seq')} limit 1
        ))), 0) as rows
        from kinds
      ) as later
      where search.high - search.low > 1
    ),
    start as (select min(high) as seq from search)`;
}

/** At most `limit` sealed rows from `start` on: an index scan along each kind, merged. */
function sealedText(parts: QueryParts, limit: number): string {
  const { schema, everything } = parts;
  const start = '(select start.seq from start)';
  if (everything) {
    return `select seal.seq, seal.id from ${schema}.audit_seals as seal where seal.seq <= ${start}
      order by seal.seq desc limit ${limit}`;
  }
  return `
    select found.seq, found.id from kinds cross join lateral (
      select seal.seq, seal.id from ${schema}.audit_seals as seal where ${upTo(parts, start)} limit ${limit}
    ) as found
    order by found.seq desc limit ${limit}`;
}

/**
 * The seals of a kind up to a position, the last one first. Whole rows are compared, so that only the index on exactly
 * the columns of the kind fits. The planner cannot know how rare a kind is, and might scan all of another index.
 */
function upTo({ common }: QueryParts, place: string): string {
  const columns = [...common.map(({ column }) => `seal.${column}`), 'seal.action', 'seal.seq'];
  const kind = [...common.map(({ value }) => value), 'kinds.action'].join(', ');
  const row = `(${columns.join(', ')})`;
  const ofApp = common.some(({ column }) => column === 'app_schema')
    ? 'seal.app_schema is not null and '
    : '';
  return `${ofApp}${row} >= (${kind}, 0) and ${row} <= (${kind}, ${place})
    order by ${columns.map((column) => `${column} desc`).join(', ')}`;
}
