// Deleting an API key; it is refused at once, in every process.
import { deleteKey } from '../../../storage/control/api-keys.ts';
import { insertRevocations, type RevocationRow } from '../../../storage/control/revocations.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { actorName, type Caller } from '../../audit/actor.ts';
import { auditSystem } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { failNoKey, keyPlace, type KeyTarget, requireKeyId } from './key-place.ts';

type RemoveDeps = Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>;

/** Throws `404 not_found`. */
export async function removeApiKey(
  deps: RemoveDeps,
  { target, id }: { target: KeyTarget; id: string },
  caller: Caller,
): Promise<{ ok: true }> {
  requireKeyId(id);
  const place = keyPlace(target);
  const revoked = await deps.databases.control.transaction(async (sql) => {
    const name = await deleteKey(sql, place, id) ?? failNoKey(id);
    await auditSystem(sql, deps, {
      actor: await actorName(sql, caller.principal),
      action: 'key_delete',
      target: name,
      details: { id, ...place },
      ...target.workspace && { workspace: target.workspace.id },
      origin: caller.origin,
    });
    return await revokeKeys(sql, deps, [id]);
  });
  deps.revocations.apply(revoked);
  return { ok: true };
}

/** Takes a key back that must not have been made. */
export async function discardKey(deps: RemoveDeps, target: KeyTarget, id: string): Promise<void> {
  const revoked = await deps.databases.control.transaction(async (sql) => {
    await deleteKey(sql, keyPlace(target), id);
    return await revokeKeys(sql, deps, [id]);
  });
  deps.revocations.apply(revoked);
}

/** Revokes keys whose rows the transaction has deleted. Returns the rows, to be applied after the commit. */
export async function revokeKeys(
  sql: Sql,
  { revocations }: Pick<Deps, 'revocations'>,
  ids: readonly string[],
): Promise<RevocationRow[]> {
  const rows = ids.map((id) => revocations.row('jti', id));
  await insertRevocations(sql, rows);
  return rows;
}
