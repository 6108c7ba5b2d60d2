// Rows of control.revocations: access tokens that are invalid, or have fewer rights, before they expire.
import { notifyChange } from './changes.ts';
import type { Sql } from '../connections/pool.ts';
import { jsonb } from '../sql/jsonb.ts';

/** The kinds of revocation. The migration that makes the table says what each `key` is. */
export type RevocationKind = 'jti' | 'subject' | 'scope' | 'workspace' | 'app';

/** Details of a revocation: `spared` with kind subject, the others with kind scope. */
export interface RevocationScope {
  /** The jti of the one token that stays valid. */
  spared?: string;
  role?: string;
  apps?: string[];
}

/** One revocation. It is for tokens issued up to `not_before`, of which none is left after `expires_at`. */
export interface RevocationRow {
  kind: RevocationKind;
  key: string;
  not_before: Date;
  scope: RevocationScope | null;
  expires_at: Date;
}

/** A revocation and the time when it was written, by the database's clock. */
export interface WrittenRevocation extends RevocationRow {
  created_at: Date;
}

/** Adds or renews revocations, and notifies every process once the transaction commits. */
export async function insertRevocations(sql: Sql, rows: readonly RevocationRow[]): Promise<void> {
  if (rows.length === 0) return;
  // In a fixed order, so that two transactions which revoke the same do not deadlock.
  const inOrder = rows.toSorted((a, b) => `${a.kind} ${a.key}` < `${b.kind} ${b.key}` ? -1 : 1);
  for (const { kind, key, not_before, scope, expires_at } of inOrder) {
    await sql`
      insert into control.revocations (kind, key, not_before, scope, expires_at, created_at)
      values (${kind}, ${key}, ${not_before}, ${scope === null ? null : jsonb(sql, scope)}, ${expires_at},
        clock_timestamp())
      on conflict (kind, key) do update set
        not_before = greatest(revocations.not_before, excluded.not_before),
        scope = excluded.scope,
        expires_at = greatest(revocations.expires_at, excluded.expires_at),
        created_at = excluded.created_at`;
  }
  await notifyChange(sql, { kind: 'revocations' });
}

/**
 * Moves a revocation on to a later instant, notifies every process once the transaction commits, and returns it;
 * undefined when there is none. Then there is no token that it would be for.
 */
export async function renewRevocation(sql: Sql, row: RevocationRow): Promise<RevocationRow | undefined> {
  const { kind, key, not_before, expires_at } = row;
  const { count } = await sql`
    update control.revocations set not_before = greatest(not_before, ${not_before}),
      expires_at = greatest(expires_at, ${expires_at}), created_at = clock_timestamp()
    where kind = ${kind} and key = ${key}`;
  if (count === 0) return undefined;
  await notifyChange(sql, { kind: 'revocations' });
  return row;
}

/**
 * Revocations that have not expired. With `since`, those written after it by the database's clock, or in the minute
 * before it, because a row may become visible that much later than a row written after it. If the clock was set back,
 * the present time counts in place of `since`.
 */
export async function listRevocations(
  sql: Sql,
  { now, since }: { now: Date; since: Date | undefined },
): Promise<WrittenRevocation[]> {
  return await sql<WrittenRevocation[]>`
    select kind, key, not_before, scope, expires_at, created_at from control.revocations
    where expires_at > ${now}
      and created_at > least(${since ?? new Date(0)}, clock_timestamp()) - interval '1 minute'`;
}

/** Removes revocations that no token is left for. */
export async function pruneRevocations(sql: Sql, now: Date): Promise<void> {
  await sql`delete from control.revocations where expires_at <= ${now}`;
}
