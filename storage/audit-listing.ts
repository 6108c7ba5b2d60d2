// Reading the audit logs. Pages come from indexes and totals are kept by whoever seals, so neither grows with the log.
import { offsetOf, type Page, pageOf, type PageRequest } from './page.ts';
import type { Sql } from './pool.ts';
import type { Ledger } from './sessions.ts';

/**
 * A row as it is listed: `details` has what rows keep apart of the request, its id, address and user agent, unless the
 * server acted by itself.
 */
export interface AuditEntry {
  id: string;
  ts: Date;
  actor: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
}

/** Which rows are listed: `action` is a case-insensitive substring, `actor` exact. */
export interface AuditFilter {
  action?: string | undefined;
  actor?: string | undefined;
}

/**
 * A log: of the system, of a workspace with all its apps, also those that are gone, or of the app with this schema.
 * `sql` must be connected to the database that has it.
 */
export interface AuditScope {
  ledger: Ledger;
  schema?: string;
}

/** What is asked of a log. */
export interface AuditQuestion {
  scope: AuditScope;
  filter: AuditFilter;
}

/** Which rows of the answer, and from which end. */
interface Slice {
  limit: number;
  offset: number;
  order: 'newest' | 'oldest';
  /** Only rows with a smaller id. */
  before?: string | undefined;
}

/** One page, newest first. */
export async function listAudit(
  sql: Sql,
  question: AuditQuestion,
  request: PageRequest,
): Promise<Page<AuditEntry>> {
  const { scope, filter } = question;
  const total = request.count ? await countAudit(sql, question) : 0;
  const everything = scope.schema === undefined && filter.action === undefined && filter.actor === undefined;
  const items = await read(
    sql,
    question,
    (asked) => everything ? idsByPlace(asked, request) : idsOf(asked, sliceOf(request, total)),
  );
  return pageOf(items, total, request);
}

/** At most `limit` rows that are older than the one with the id `before`, newest first. */
export async function listAuditBefore(
  sql: Sql,
  question: AuditQuestion,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  return await read(sql, question, (asked) => idsOf(asked, { limit, offset: 0, order: 'newest', before }));
}

/** The nearer end is counted from: skipping an index's entries takes time, too. */
function sliceOf(request: PageRequest, total: number): Slice {
  const offset = offsetOf(request);
  const limit = request.per_page;
  if (!request.count || offset <= total / 2) return { limit, offset, order: 'newest' };
  const left = Math.max(0, total - offset);
  return { limit: Math.min(limit, left), offset: Math.max(0, left - limit), order: 'oldest' };
}

/** The parts of a statement that follow from the question. */
interface Asked {
  ledger: Ledger;
  /** Conditions on `total`, on `log` whatever its action, and on the action of either. */
  totals: string;
  rows: string;
  actionOf: (alias: 'total' | 'log') => string;
  byName: boolean;
  /** Adds a value and answers how the text refers to it. */
  bind: (value: string) => string;
  values: string[];
}

/**
 * Statements are sent as texts with their limits in them, and are not prepared: a plan made for any limit reads far more
 * than a page.
 */
function ask({ scope: { ledger, schema }, filter: { action, actor } }: AuditQuestion): Asked {
  const values: string[] = [];
  const bind = (value: string) => `$${values.push(value)}`;
  const actorValue = actor === undefined ? undefined : bind(actor);
  const schemaValue = schema === undefined ? undefined : bind(schema);
  const actionValue = action === undefined ? undefined : bind(action);
  const actionOf: Asked['actionOf'] = (alias) =>
    actionValue === undefined ? 'true' : `strpos(lower(${alias}.action), lower(${actionValue}::text)) > 0`;
  const byActor = (alias: string) => `${alias}.actor = ${actorValue}::text`;
  const byApp = (alias: string) =>
    schemaValue === undefined ? 'true' : `${alias}.app_schema = ${schemaValue}::text`;
  return {
    ledger,
    totals: `${actorValue === undefined ? 'total.actor is null' : byActor('total')} and ${
      byApp('total')
    } and ${actionOf('total')}`,
    rows: `${actorValue === undefined ? 'true' : byActor('log')} and ${byApp('log')}`,
    actionOf,
    byName: action !== undefined || actor !== undefined,
    bind,
    values,
  };
}

/**
 * The rows that wait for a seal, each found by its id: how few they are is nothing that the planner can know, and left
 * to itself it may read the whole log for them.
 */
function waitingRows(ledger: Ledger): string {
  return `${ledger}.audit_queue as queue
    cross join lateral (select * from ${ledger}.audit_log where id = queue.id offset 0) as log`;
}

/** The sum of what was counted when rows were sealed, and the few that still wait. */
async function countAudit(sql: Sql, question: AuditQuestion): Promise<number> {
  const { ledger, totals, rows, actionOf, values } = ask(question);
  const [row] = await sql.unsafe<{ total: number }[]>(
    `select (
      (select coalesce(sum(total.rows), 0) from ${ledger}.audit_totals as total where ${totals})
      + (select count(*) from ${waitingRows(ledger)}
        where ${rows} and ${actionOf('log')})
    )::float8 as total`,
    values,
  );
  return row?.total ?? 0;
}

async function read(
  sql: Sql,
  question: AuditQuestion,
  idsText: (asked: Asked) => string,
): Promise<AuditEntry[]> {
  const asked = ask(question);
  const rows = await sql.unsafe<AuditEntry[]>(
    `with page as (${idsText(asked)})
    select log.id, log.ts, log.actor, log.action, log.target,
      log.details || jsonb_strip_nulls(jsonb_build_object(
        'request_id', log.request_id, 'ip', log.ip, 'user_agent', log.user_agent)) as details
    from page join ${asked.ledger}.audit_log as log using (id) order by log.id desc`,
    asked.values,
  );
  return [...rows];
}

/**
 * A whole log goes by the places in its chain, which have no gaps, so that no page is further away than another; what
 * waits for its place comes first.
 */
function idsByPlace({ ledger }: Asked, request: PageRequest): string {
  const offset = offsetOf(request);
  const end = offset + request.per_page;
  const last = `(select coalesce(max(seq), 0) from ${ledger}.audit_seals)`;
  const waiting = `(select count(*) from ${ledger}.audit_queue)`;
  return `
    select queued.id from (
      select queue.id, row_number() over (order by queue.id desc) as place from ${ledger}.audit_queue as queue
    ) as queued
    where queued.place > ${offset} and queued.place <= ${end}
    union all
    select seal.id from ${ledger}.audit_seals as seal
    where seal.seq <= ${last} - greatest(${offset} - ${waiting}, 0) and seal.seq > ${last} - (${end} - ${waiting})`;
}

/**
 * With a filter, each action that occurs is a walk of its own along an index, and the walks are merged: a part of an
 * action's name can be searched for in the few names there are.
 */
function idsOf(asked: Asked, { limit, offset, order, before }: Slice): string {
  const { ledger, rows, byName } = asked;
  const direction = order === 'newest' ? 'desc' : 'asc';
  const among = before === undefined ? rows : `${rows} and log.id < ${asked.bind(before)}::uuid`;
  const log = `${ledger}.audit_log as log`;
  if (!byName) {
    return `select log.id from ${log} where ${among} order by log.id ${direction} limit ${limit} offset ${offset}`;
  }
  return `
    select found.id from (${actionsOf(asked)}) as occurring cross join lateral (
      select log.id from ${log} where log.action = occurring.action and ${among}
      order by log.id ${direction} limit ${limit + offset}
    ) as found
    order by found.id ${direction} limit ${limit} offset ${offset}`;
}

/** The actions that rows of the answer have. */
function actionsOf({ ledger, totals, rows, actionOf }: Asked): string {
  return `
    select total.action from ${ledger}.audit_totals as total where ${totals}
    union
    select log.action from ${waitingRows(ledger)}
    where ${rows} and ${actionOf('log')}`;
}
