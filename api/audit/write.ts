// Writes audit entries in the transaction of the change that they record: without its entry, a change fails.
import { controlChain, workspaceChain } from '../../storage/audit/chain.ts';
import { appendApp, appendSystem, appendWorkspace, type AuditRow } from '../../storage/audit/log.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { ServerSchema } from '../../storage/sessions.ts';
import { replaceControlCharacters } from '../logging/control-characters.ts';
import type { Deps } from '../deps.ts';
import type { RequestOrigin } from '../contract/route.ts';

/** The event that an entry records. No member may hold a secret. */
export interface AuditEvent {
  /** The username or email of the principal, that of a failed attempt, or `system`. */
  actor: string;
  action: string;
  /** The id, name or email of what was changed. */
  target: string;
  details?: Readonly<Record<string, unknown>>;
  /** Of the request; absent for an action of the server. */
  origin?: RequestOrigin;
}

/** The sources of an entry's id and time, and the queue to seal it. Without the queue it is sealed after a restart. */
export type AuditDeps = Pick<Deps, 'newId' | 'now'> & Partial<Pick<Deps, 'seals'>>;

/** Appends at system scope, in the control database. `workspace` is the workspace that the entry is about. */
export async function auditSystem(
  sql: Sql,
  deps: AuditDeps,
  { workspace, ...event }: AuditEvent & { workspace?: string },
): Promise<void> {
  const row = toRow(deps, event);
  await appendSystem(sql, row, workspace ?? null);
  deps.seals?.enqueue(controlChain, row.id);
}

/** Appends at workspace scope, in the workspace's database. */
export async function auditWorkspace(sql: Sql, deps: AuditDeps, event: AuditEvent): Promise<void> {
  const row = toRow(deps, event);
  const database = await appendWorkspace(sql, row);
  deps.seals?.enqueue(workspaceChain(database), row.id);
}

/** Appends at system or workspace scope, by the schema that the connection is on. */
export async function auditInSchema(
  sql: Sql,
  deps: AuditDeps,
  schema: ServerSchema,
  event: AuditEvent,
): Promise<void> {
  await (schema === 'control' ? auditSystem(sql, deps, event) : auditWorkspace(sql, deps, event));
}

/** Appends at the scope of the app whose role the connection has. */
export async function auditApp(sql: Sql, deps: AuditDeps, event: AuditEvent): Promise<void> {
  const row = toRow(deps, event);
  const database = await appendApp(sql, row);
  deps.seals?.enqueue(workspaceChain(database), row.id);
}

function toRow(deps: AuditDeps, { actor, action, target, details = {}, origin }: AuditEvent): AuditRow {
  return {
    id: deps.newId(),
    ts: deps.now(),
    actor: clean([...actor].slice(0, maxActorLength).join('')),
    action,
    target: clean(target),
    details: cleanObject(details),
    request_id: origin?.requestId ?? null,
    ip: origin?.ip ?? null,
    user_agent: userAgent(origin),
  };
}

/** Null for an action of the server, and for a client that sends none. */
function userAgent(origin: RequestOrigin | undefined): string | null {
  return origin === undefined || origin.userAgent === ''
    ? null
    : clean(origin.userAgent.slice(0, maxUserAgentLength));
}

const maxValueBytes = 4096;
/** In characters. The log is indexed by actor, and the filter of a query is no longer. */
const maxActorLength = 320;
/** In characters. */
const maxUserAgentLength = 500;

/** The text as it is safe in a terminal or a log: control characters escaped, well-formed, at most 4 KiB. */
function clean(text: string): string {
  const escaped = replaceControlCharacters(
    text.toWellFormed(),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (Buffer.byteLength(escaped) <= maxValueBytes) return escaped;
  const cut = Buffer.from(escaped).subarray(0, maxValueBytes - 3).toString('utf8').replace(/\ufffd$/, '');
  return `${cut}…`;
}

function cleanObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [clean(name), cleanValue(member)]));
}

/** Cleans a value. One whose JSON is too long becomes the beginning of that text. */
function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > maxValueBytes) return clean(text);
  if (value instanceof Date) return value;
  return Array.isArray(value) ? value.map(cleanValue) : cleanObject({ ...value });
}
