// An audit log of a test's own: rows appended as features do, sealed as the server does, changed as only its owner could.
import { auditApp, auditSystem, auditWorkspace } from '../../api/audit/write.ts';
import { type Chain, controlChain, sealBatch, workspaceChain } from '../../storage/audit/chain.ts';
import { type ChainVerdict, verifyChain } from '../../storage/audit/verify.ts';
import type { Storage } from '../../storage/boot/boot.ts';
import { uuidV7Source } from '../../storage/sql/ids.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import { makeTenant } from './tenants.ts';

/** What features append with. */
export const auditDeps = { newId: uuidV7Source(Date.now), now: () => new Date() };

/** One log, and what tests do to it. */
export interface OwnLog {
  chain: Chain;
  /** The provisioner's. */
  connection: Connection;
  /** Appends one row in a transaction of its own. */
  append(action: string, more?: { actor?: string; details?: Record<string, unknown> }): Promise<void>;
  /** Seals all that waits. */
  seal(): Promise<void>;
  verify(expected?: { seq: number; hash: string }): Promise<ChainVerdict>;
  /** Runs statements as the log's owner, who nobody is. */
  tamper(text: string): Promise<unknown>;
  /** The row at a place of the chain. */
  idAt(seq: number): Promise<string>;
}

/** The log of the system scope. */
export function systemLog(storage: Storage): OwnLog {
  return logOf(storage, { connection: storage.databases.control, chain: controlChain, append: auditSystem });
}

/** The log of a new workspace, which also has an app. */
export async function workspaceLog(
  storage: Storage,
): Promise<OwnLog & { database: string; schema: string; appendInApp: OwnLog['append'] }> {
  const { database, schema } = await makeTenant(storage);
  const connection = storage.databases.provisioner(database);
  const log = logOf(storage, { connection, chain: workspaceChain(database), append: auditWorkspace });
  const appendInApp: OwnLog['append'] = (action, { actor = 'someone', details = {} } = {}) =>
    storage.databases.app(database, schema).run((sql) =>
      auditApp(sql, auditDeps, { actor, action, target: 'a target', details })
    );
  return { ...log, database, schema, appendInApp };
}

type Append = (
  sql: Sql,
  deps: typeof auditDeps,
  event: Parameters<typeof auditWorkspace>[2],
) => Promise<void>;

function logOf(
  { secrets, provisioning }: Storage,
  { connection, chain, append }: { connection: Connection; chain: Chain; append: Append },
): OwnLog {
  const owner = provisioning.names.groups.auditor;
  return {
    chain,
    connection,
    append: (action, { actor = 'someone', details = {} } = {}) =>
      connection.run((sql) => append(sql, auditDeps, { actor, action, target: 'a target', details })),
    seal: async () => {
      while (await sealBatch(connection, chain, secrets) > 0);
    },
    verify: (expected) => verifyChain(connection, chain, { key: secrets, expected }),
    tamper: (text) => connection.transaction((sql) => sql.unsafe(`set local role ${owner}; ${text}`)),
    idAt: async (seq) => {
      const [row] = await connection.run((sql) =>
        sql<{ id: string }[]>`select id from ${sql(chain.schema)}.audit_seals where seq = ${seq}`
      );
      return row?.id ?? 'none';
    },
  };
}
