// An audit entry that is kept in another database than the change that it records.
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import type { AuditEvent } from './write.ts';

/** Writes the entry. Once it answers, the entry is committed. Throws `StorageError`. */
export type WriteRemoteEntry = (event: AuditEvent) => Promise<void>;

/**
 * Runs a change with a transaction of its own for the entry, which is open before the change begins: that what a tenant has
 * made of its connections takes long is waited for while nothing is held that others need. Without an entry written, the
 * change cannot go on. Throws `StorageError`, and as `change` does.
 */
export async function withRemoteEntry<Result>(
  connection: Pick<Connection, 'transaction'>,
  append: (sql: Sql, event: AuditEvent) => Promise<void>,
  change: (write: WriteRemoteEntry) => Promise<Result>,
): Promise<Result> {
  const open = Promise.withResolvers<void>();
  const wanted = Promise.withResolvers<AuditEvent | undefined>();
  const ended = connection.transaction(async (sql) => {
    open.resolve();
    const event = await wanted.promise;
    if (event !== undefined) await append(sql, event);
  });
  await Promise.race([open.promise, ended]);
  try {
    return await change((event) => {
      wanted.resolve(event);
      return ended;
    });
  } finally {
    wanted.resolve(undefined);
    await Promise.allSettled([ended]);
  }
}
