// Audit entries that are in another database than the change that they record.
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import type { AuditEvent } from './write.ts';

/** Writes the entry, and resolves once it is committed. Throws `StorageError`. */
export type WriteRemoteEntry = (event: AuditEvent) => Promise<void>;

/**
 * Runs a change with a second transaction for its entry. That transaction is open before the change begins: a tenant that
 * keeps its connections busy is waited for while no lock is held. The change cannot commit without its entry. Throws
 * `StorageError`, and the errors of `change`.
 */
export async function withRemoteEntry<Result>(
  connection: Pick<Connection, 'transaction'>,
  append: (sql: Sql, event: AuditEvent) => Promise<void>,
  change: (write: WriteRemoteEntry) => Promise<Result>,
): Promise<Result> {
  const open = Promise.withResolvers<void>();
  const written = Promise.withResolvers<AuditEvent | undefined>();
  const ended = connection.transaction(async (sql) => {
    open.resolve();
    const event = await written.promise;
    if (event !== undefined) await append(sql, event);
  });
  await Promise.race([open.promise, ended]);
  try {
    return await change((event) => {
      written.resolve(event);
      return ended;
    });
  } finally {
    written.resolve(undefined);
    await Promise.allSettled([ended]);
  }
}
