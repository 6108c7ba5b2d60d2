// The program behind `bulkhead audit verify`: reads audit logs from the database, and tells what it found.
import { controlChain, workspaceChain } from '../../storage/audit/chain.ts';
import { type Verdict, verifyChain } from '../../storage/audit/verify.ts';
import { checkMasterKey } from '../../storage/boot/key-check.ts';
import { unlimited } from '../../storage/connections/permits.ts';
import { type Connection, Pool } from '../../storage/connections/pool.ts';
import { Secrets } from '../../storage/secrets.ts';
import { StartRefused } from '../../storage/start-refused.ts';
import { listWorkspaceDatabases } from '../../storage/workspaces.ts';
import type { FromVerify, VerifyStart } from '../../supervisor/protocol.ts';

/** Verifies what it is asked to, one log after the other. Throws `StartRefused`, `StorageError`. */
async function verify(start: VerifyStart): Promise<void> {
  const key = new Secrets(Buffer.from(start.masterKey, 'base64'));
  const expected = start.head ?? undefined;
  await connected(start, start.database.database, async (control) => {
    await control.transaction((sql) => checkMasterKey(sql, key));
    if (typeof start.log === 'string') {
      tellOf('system', await verifyChain(control, controlChain, { key, expected }));
    }
    if (start.log === 'system') return;
    const only = start.log === 'all' ? undefined : start.log.workspace;
    const found = await control.run((sql) => listWorkspaceDatabases(sql, only));
    if (only !== undefined && found.length === 0) throw new StartRefused(`there is no workspace "${only}"`);
    for (const { id, database } of found) {
      await connected(start, database, async (connection) => {
        tellOf(`workspace ${id}`, await verifyChain(connection, workspaceChain(database), { key, expected }));
      });
    }
  });
}

async function connected(
  { database: access }: VerifyStart,
  database: string,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const pool = new Pool({ ...access, database }, { cap: 1, permits: unlimited, now: Date.now });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

function tellOf(log: string, { head, ...verdict }: Verdict): void {
  tell({ type: 'verified', log, ...verdict, head: `${head.seq}:${head.hash}` });
}

function tell(message: FromVerify): void {
  process.send?.(message);
}

process.on('disconnect', () => process.exit(1));

process.once('message', (message: VerifyStart) => {
  verify(message).then(
    () => tell({ type: 'done' }),
    (error: unknown) =>
      tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
