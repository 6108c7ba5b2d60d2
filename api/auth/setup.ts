// The first-run setup, which sets the password of the master admin once.
import { notifyChange } from '../../storage/control/changes.ts';
import { findMasterByUsername, setMasterPassword } from '../../storage/control/master-admins.ts';
import { claimSetup } from '../../storage/control/server.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { RequestOrigin } from '../contract/route.ts';
import { checkNewPassword } from './passwords/policy.ts';

/** The username of the master admin, who exists from the first start on. */
export const masterUsername = 'admin';

/** Completes the setup. Throws `409 conflict` when it is complete already. */
export async function completeSetup(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'setup' | 'newId' | 'now'>,
  password: string,
  { origin, now }: { origin: RequestOrigin; now: Date },
): Promise<void> {
  if (deps.setup.initialized) failComplete();
  await checkNewPassword(deps.policies, {}, { field: 'password', password });
  const isFirst = await deps.databases.control.transaction(async (sql) => {
    // Other setups wait here until this transaction ends, and so hash no password in vain.
    if (!await claimSetup(sql)) return false;
    const master = await findMasterByUsername(sql, masterUsername);
    if (master === undefined) throw new Error('there is no master admin');
    const passwordHash = await deps.passwords.hash('masters', password);
    await setMasterPassword(sql, master.id, { passwordHash, now });
    await auditSystem(sql, deps, { actor: masterUsername, action: 'setup', target: 'server', origin });
    await notifyChange(sql, { kind: 'setup' });
    return true;
  });
  deps.setup.initialized = true;
  if (!isFirst) failComplete();
}

function failComplete(): never {
  fail('conflict', 'the master password is already set');
}
