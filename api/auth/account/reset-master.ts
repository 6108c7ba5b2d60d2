// The program behind `bulkhead admin password`: sets a new master password, for whoever may read the data directory.
import { randomBytes } from 'node:crypto';
import { checkMasterKey } from '../../../storage/boot/key-check.ts';
import { uuidV7Source } from '../../../storage/sql/ids.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { deleteFailures } from '../../../storage/lockouts.ts';
import { findMasterByUsername, setMasterPassword } from '../../../storage/control/master-admins.ts';
import { insertRevocations } from '../../../storage/control/revocations.ts';
import { Secrets } from '../../../storage/secrets.ts';
import { revokeSessions } from '../../../storage/sessions.ts';
import { StartRefused } from '../../../storage/boot/start-refused.ts';
import type { MasterPassword, ProgramStart } from '../../../supervisor/protocol.ts';
import { auditSystem } from '../../audit/write.ts';
import { runAsOneShot, withConnection } from '../../process/one-shot.ts';
import { maxTokenLifeMs } from '../../policies/definitions.ts';
import { masterSubject } from '../login/login-master.ts';
import { Passwords } from '../passwords/passwords.ts';
import { masterUsername } from '../setup.ts';

/** 144 bits, which cannot be guessed. */
const passwordBytes = 18;
const newId = uuidV7Source(Date.now);
const now = () => new Date();

/** Generates a password and sets it. Throws `StartRefused`, `StorageError`. */
async function resetMaster(start: ProgramStart, tell: (made: MasterPassword) => void): Promise<void> {
  const key = new Secrets(Buffer.from(start.masterKey, 'base64'));
  const password = randomBytes(passwordBytes).toString('base64url');
  const passwords = new Passwords();
  const passwordHash = await passwords.hash('masters', password).finally(() => passwords.close());
  await withConnection(start.database, async (control) => {
    // Outside of the transaction: two that read the row and then change it would deadlock.
    const master = await control.run((sql) => findMasterByUsername(sql, masterUsername));
    if (master === undefined || master.password_hash === null) {
      throw new StartRefused('the server was never set up: POST /_/setup sets the first password');
    }
    await control.transaction(async (sql) => {
      await checkMasterKey(sql, key);
      await replace(sql, master.id, passwordHash);
    });
  });
  tell({ username: masterUsername, password });
}

async function replace(sql: Sql, id: string, passwordHash: string): Promise<void> {
  await setMasterPassword(sql, id, { passwordHash, now: now() });
  // Read once the row is locked, so that it is later than any token issued for the old password.
  const instant = now();
  await revokeSessions(sql, 'control', { principalId: id, spared: undefined, now: instant });
  const expires_at = new Date(instant.getTime() + maxTokenLifeMs);
  await insertRevocations(sql, [
    { kind: 'subject', key: id, not_before: instant, scope: null, expires_at },
  ]);
  await deleteFailures(sql, 'control', masterSubject(masterUsername));
  await auditSystem(sql, { newId, now }, {
    actor: 'system',
    action: 'password_reset',
    target: masterUsername,
    details: { by: 'command' },
  });
}

runAsOneShot(resetMaster);
