// An admin makes an API key, whose rights are at most those that the admin has at its place.
import { countKeys, insertKey, type KeyRow, lockMaker } from '../../../storage/control/api-keys.ts';
import { readInstant } from '../../../storage/app/fields/datetime.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { actorName, type Caller } from '../../audit/actor.ts';
import { auditSystem } from '../../audit/write.ts';
import { parseKeyGrant } from '../../contract/key-scopes.ts';
import type { Deps } from '../../deps.ts';
import { fail, failValidation } from '../../errors.ts';
import { lockWorkspace } from '../../target.ts';
import { discardKey } from './remove.ts';
import { keyPlace, type KeyTarget } from './key-place.ts';
import type { ApiKey } from './key-response.ts';
import { findApiKey } from './list.ts';
import { hashKeySecret, makeKeySecret } from './secret.ts';

/** The body of the request. */
export interface NewApiKey {
  name: string;
  scopes: readonly string[];
  /** Null and left out: never. */
  expires_at?: string | null | undefined;
}

type CreateDeps = Pick<Deps, 'databases' | 'definitions' | 'revocations' | 'newId' | 'now'>;

const maxKeys = 100;

/** Returns the key with its secret, for the only time. Throws `400 validation`, `403 forbidden`. */
export async function createApiKey(
  deps: CreateDeps,
  target: KeyTarget,
  { name, scopes, expires_at, ...caller }: NewApiKey & Caller,
): Promise<ApiKey & { secret: string }> {
  const place = keyPlace(target);
  const secret = makeKeySecret();
  const row: KeyRow & { secret_hash: Buffer } = {
    id: deps.revocations.newId(),
    name,
    ...place,
    scopes: checkedScopes(scopes, target),
    maker: caller.principal.id,
    created_at: caller.now,
    expires_at: checkedExpiry(expires_at, caller.now),
    last_used_at: null,
    secret_hash: hashKeySecret(secret) ?? fail('internal', 'a new secret has the wrong form'),
  };
  await deps.databases.control.transaction((sql) => store(sql, deps, { target, row, caller }));
  const { workspace, app } = target;
  // A deletion of the app that was under way has not seen the key, which a later app of the id must not meet.
  if (app !== undefined && workspace !== undefined && !await deps.definitions.exists(app)) {
    await discardKey(deps, target, row.id);
    fail('app_not_found', `app "${app.id}" does not exist`);
  }
  return { ...await findApiKey(deps, target, row.id), secret };
}

async function store(
  sql: Sql,
  deps: CreateDeps,
  { target, row, caller }: {
    target: KeyTarget;
    row: KeyRow & { secret_hash: Buffer };
    caller: Caller;
  },
): Promise<void> {
  const { workspace } = target;
  const place = keyPlace(target);
  if (workspace !== undefined) await lockWorkspace(sql, workspace);
  if (!await lockMaker(sql, row.maker, place)) fail('forbidden', 'this token does not allow that');
  if (await countKeys(sql, place) >= maxKeys) {
    failValidation([{ field: 'name', reason: `there are ${maxKeys} keys here already; delete one first` }]);
  }
  await insertKey(sql, row);
  await auditSystem(sql, deps, {
    actor: await actorName(sql, caller.principal),
    action: 'key_create',
    target: row.name,
    details: { id: row.id, ...place, scopes: row.scopes, expires_at: row.expires_at },
    ...workspace && { workspace: workspace.id },
    origin: caller.origin,
  });
}

/** The scopes without repetitions. Throws `400 validation` that names each wrong one. */
function checkedScopes(scopes: readonly string[], { workspace, app }: KeyTarget): string[] {
  const place = { workspace: workspace?.id, app: app?.id };
  const errors = scopes.flatMap((scope, index) => {
    const grant = parseKeyGrant(scope, place);
    return typeof grant === 'string' ? [{ field: `scopes.${index}`, reason: grant }] : [];
  });
  if (scopes.length === 0) errors.push({ field: 'scopes', reason: 'must have at least one scope' });
  if (errors.length > 0) failValidation(errors);
  return [...new Set(scopes)];
}

function checkedExpiry(text: string | null | undefined, now: Date): Date | null {
  if (text === undefined || text === null) return null;
  const read = readInstant(text);
  const expires = 'value' in read ? new Date(String(read.value)) : new Date(NaN);
  if (!(expires > now)) {
    failValidation([{ field: 'expires_at', reason: 'must be a time in the future, as RFC 3339 writes it' }]);
  }
  return expires;
}
