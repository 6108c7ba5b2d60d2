// The program behind `bulkhead audit verify`: verifies audit logs and reports the result.
import { controlChain, workspaceChain } from '../../storage/audit/chain.ts';
import { type ChainVerdict, verifyChain } from '../../storage/audit/verify.ts';
import { checkMasterKey } from '../../storage/boot/key-check.ts';
import { Secrets } from '../../storage/secrets.ts';
import { StartRefused } from '../../storage/boot/start-refused.ts';
import { listWorkspaceDatabases } from '../../storage/control/workspaces.ts';
import type { VerifiedLog, VerifyStart } from '../../supervisor/protocol.ts';
import { runAsOneShot, withConnection } from '../process/one-shot.ts';

/** Verifies the requested logs, one after another. Throws `StartRefused`, `StorageError`. */
async function verify(start: VerifyStart, report: (verified: VerifiedLog) => void): Promise<void> {
  const key = new Secrets(Buffer.from(start.masterKey, 'base64'));
  const expected = start.head ?? undefined;
  await withConnection(start.database, async (control) => {
    await control.transaction((sql) => checkMasterKey(sql, key));
    if (typeof start.log === 'string') {
      report(toReport('system', await verifyChain(control, controlChain, { key, expected })));
    }
    if (start.log === 'system') return;
    const only = start.log === 'all' ? undefined : start.log.workspace;
    const found = await control.run((sql) => listWorkspaceDatabases(sql, only));
    if (only !== undefined && found.length === 0) throw new StartRefused(`there is no workspace "${only}"`);
    for (const { id, database } of found) {
      await withConnection({ ...start.database, database }, async (connection) => {
        const verdict = await verifyChain(connection, workspaceChain(database), { key, expected });
        report(toReport(`workspace ${id}`, verdict));
      });
    }
  });
}

function toReport(log: string, { head, ...verdict }: ChainVerdict): VerifiedLog {
  return { log, ...verdict, head: `${head.seq}:${head.hash}` };
}

runAsOneShot(verify);
