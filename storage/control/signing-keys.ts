// Rows of control.signing_keys.
import type { Sql } from '../connections/pool.ts';
import { jsonb } from '../sql/jsonb.ts';

/** A key pair; the private half is sealed. */
export interface SigningKeyRow {
  kid: string;
  algorithm: string;
  public_jwk: Record<string, unknown>;
  private_sealed: Buffer;
  created_at: Date;
}

/** All keys, the oldest first. */
export async function listSigningKeys(sql: Sql): Promise<SigningKeyRow[]> {
  return await sql<SigningKeyRow[]>`
    select kid, algorithm, public_jwk, private_sealed, created_at from control.signing_keys
    order by created_at, kid`;
}

/** Stores a key pair unless there is one: of several processes that start at once, one wins. In a transaction. */
export async function insertFirstSigningKey(sql: Sql, key: SigningKeyRow): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('first signing key', 0))`;
  await sql`
    insert into control.signing_keys (kid, algorithm, public_jwk, private_sealed, created_at)
    select ${key.kid}, ${key.algorithm}, ${
    jsonb(sql, key.public_jwk)
  }, ${key.private_sealed}, ${key.created_at}
    where not exists (select from control.signing_keys)`;
}
