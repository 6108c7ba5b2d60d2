// Rows of workspace.one_time_tokens: tokens that work once.
import { type MailBudget, type MailPurpose, spendMail } from './mail-budgets.ts';
import type { Sql } from '../connections/pool.ts';
import { addressForms } from '../sql/email-address.ts';

/** The purpose of a token. */
export type TokenPurpose = MailPurpose | 'mfa';

/** A way to sign in. */
export type LoginMethod = 'password' | 'otp' | 'oauth';

/** A token as it is stored. */
export interface OneTimeToken {
  /** A v7 UUID. */
  id: string;
  purpose: TokenPurpose;
  /** The address that it was made for, in lower case. */
  email: string;
  user_id: string | null;
  hash: Buffer;
  app: string | null;
  /** The first step that a challenge completes; null for other tokens. */
  method: LoginMethod | null;
  created_at: Date;
  expires_at: Date;
}

/** The members of a token that redeeming it returns. */
export type Redeemed = Pick<OneTimeToken, 'id' | 'email' | 'user_id' | 'app' | 'method'>;

/** A search for a token. */
export interface TokenQuery {
  purpose: TokenPurpose;
  hash: Buffer;
  now: Date;
}

/** Adds a token, and removes a few that have expired. */
export async function insertToken(sql: Sql, token: OneTimeToken): Promise<void> {
  await addToken(sql, token);
  await pruneTokens(sql, token.created_at);
}

/** A token for a user who is deleted meanwhile gets no user, as one for an unknown address. */
async function addToken(sql: Sql, token: OneTimeToken): Promise<void> {
  const { id, purpose, email, user_id, hash, app, method, created_at, expires_at } = token;
  await sql`
    insert into workspace.one_time_tokens (id, purpose, email, user_id, hash, app, method, created_at, expires_at)
    values (
      ${id}, ${purpose}, ${email}, (select id from workspace.users where id = ${user_id} for key share), ${hash}, ${app},
      ${method}, ${created_at}, ${expires_at})`;
}

async function pruneTokens(sql: Sql, now: Date): Promise<void> {
  await sql`
    delete from workspace.one_time_tokens where id in (
      select id from workspace.one_time_tokens where expires_at <= ${now} order by expires_at limit 20
      for update skip locked)`;
}

/**
 * Adds a token that is to be mailed, in place of all earlier ones of its purpose for its address. Without a budget for
 * the mail it changes nothing and returns false: the last mailed token stays valid.
 */
export async function replaceToken(
  sql: Sql,
  token: OneTimeToken & { purpose: MailPurpose },
  limits: MailBudget,
): Promise<boolean> {
  const { id, purpose, email, created_at: now } = token;
  // Two simultaneous requests would each miss the other's token. The budget's row serializes them.
  if (!await spendMail(sql, { purpose, email, now, limits })) return false;
  // Locks the user's row before any token, which is also the order where all tokens of a user are ended.
  await addToken(sql, token);
  await sql`
    update workspace.one_time_tokens set used_at = ${now}
    where purpose = ${purpose} and email = any(${addressForms(email)}) and used_at is null and id <> ${id}`;
  await pruneTokens(sql, now);
  return true;
}

/** A token that could be redeemed now, or undefined. */
export async function findToken(sql: Sql, { purpose, hash, now }: TokenQuery): Promise<Redeemed | undefined> {
  const [row] = await sql<Redeemed[]>`
    select id, email, user_id, app, method from workspace.one_time_tokens
    where purpose = ${purpose} and hash = ${hash} and used_at is null and expires_at > ${now}`;
  return row;
}

/** Uses a token up: of several attempts at once, exactly one gets it. */
export async function redeemToken(
  sql: Sql,
  { purpose, hash, now }: TokenQuery,
): Promise<Redeemed | undefined> {
  const [row] = await sql<Redeemed[]>`
    update workspace.one_time_tokens set used_at = ${now}
    where purpose = ${purpose} and hash = ${hash} and used_at is null and expires_at > ${now}
    returning id, email, user_id, app, method`;
  return row;
}

/** Counts a wrong code against the pending code of an address, and voids that after `max` of them. */
export async function countWrongCode(
  sql: Sql,
  { email, max, now }: { email: string; max: number; now: Date },
): Promise<void> {
  await sql`
    update workspace.one_time_tokens set
      wrong_codes = wrong_codes + 1,
      used_at = case when wrong_codes + 1 >= ${max} then ${now}::timestamptz end
    where purpose = 'otp' and email = any(${
    addressForms(email)
  }) and used_at is null and expires_at > ${now}`;
}

/** Invalidates the pending tokens of a user: all, or those of one purpose. */
export async function voidTokens(
  sql: Sql,
  { userId, email, purpose, now }: {
    userId: string;
    /** Also those for this address that have no user. */
    email?: string;
    purpose?: TokenPurpose;
    now: Date;
  },
): Promise<void> {
  const wanted = purpose === undefined ? sql`true` : sql`purpose = ${purpose}`;
  await sql`
    update workspace.one_time_tokens set used_at = ${now}
    where (user_id = ${userId} or email = any(${
    email === undefined ? [] : addressForms(email)
  })) and used_at is null and ${wanted}`;
}
