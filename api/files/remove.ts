// Deletes files: first the row and the fields of records that hold it, then the bytes.
import type { AppDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { deleteFile, lockFile } from '../../storage/app/files.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { transactionAsConnection } from '../../storage/connections/transaction-as-connection.ts';
import { fail } from '../errors.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import { writtenByRemoval } from '../records/announce.ts';
import { emptyFileFields, type Removal } from '../records/relations/cascade.ts';
import { requireCurrent, type WriteDeps } from '../records/collection.ts';
import { rehearseRemoval } from '../records/hooks/removal.ts';
import { rehearse, startRehearsal } from '../records/hooks/rehearsal.ts';
import { commitWrite } from '../records/write.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../scope.ts';
import { requireRemovable } from './access.ts';
import { removeBytes } from './upload.ts';

type RemoveDeps = WriteDeps & Pick<Deps, 'blobs' | 'observe'>;

/** The deletion of a file. */
export interface FileRemoval {
  id: string;
  /** Undefined for the server itself. */
  caller: RecordCaller | undefined;
  now: Date;
}

/** Deletes a file for a caller. Throws `404 not_found`, `403 forbidden`, and as `removeStored` does. */
export async function removeFile(
  deps: RemoveDeps,
  app: AppDefinition,
  { id, principal, requestId, now }: { id: string; principal: Principal; requestId: string; now: Date },
): Promise<{ ok: true }> {
  const file = await requireRemovable(deps, app, { id, principal });
  await removeStored(deps, app, { id: file.id, caller: { principal, requestId }, now });
  return { ok: true };
}

/**
 * Deletes a file, and empties the fields of records that hold it. Throws `404 not_found`, `409 conflict` when a required
 * field holds it, and the errors of hooks of those records.
 */
export async function removeStored(
  deps: RemoveDeps,
  app: AppDefinition,
  removal: FileRemoval,
): Promise<void> {
  const { id, caller, now } = removal;
  const rehearsal = await startRehearsal(deps, app, caller);
  const rehearsals = rehearsal === undefined ? [] : [rehearsal];
  await commitWrite(deps, app, {
    changes: [{ action: 'delete_file' }],
    hooks: rehearsal === undefined ? undefined : 'within',
  }, async (context) => {
    const { app, connection, statements } = context;
    const work = async (sql: Sql): Promise<Removal> => {
      // Hooks may take seconds.
      if (rehearsal !== undefined) requireCurrent(deps, app);
      if (!await lockFile(sql, app.schema, id)) fail('not_found', `file "${id}" does not exist`);
      const remove = () => emptyFileFields({ sql, statements }, app, { id, now });
      const removed = await rehearseRemoval(rehearsal, {
        ...context,
        connection: transactionAsConnection(sql),
      }, {
        now,
        remove,
      });
      await deleteFile(sql, app.schema, id);
      return removed;
    };
    const removed = await rehearse(rehearsals, connection, work).catch(explain);
    return { result: undefined, written: writtenByRemoval(removed) };
  });
  await removeBytes(deps, app, id);
  await rehearsal?.runAfterHooks();
}

function explain(error: unknown): never {
  if (error instanceof StorageError && error.failure === 'restricted') {
    fail('conflict', 'a required field of a record holds this file');
  }
  throw error;
}
