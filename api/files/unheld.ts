// Deletes files with the last record that holds them, where their fields say so.
import { deleteUnheld } from '../../storage/app/unheld-files.ts';
import { referrersTo } from '../../storage/app/records/referrers.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { type AppDefinition, filesId } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import type { UnheldFiles } from '../records/ports.ts';
import { removeBytes } from './upload.ts';

type UnheldDeps = Pick<Deps, 'databases' | 'blobs' | 'observe'>;

/** Files that one transaction deletes. */
const maxTogether = 500;

/** Files that no record holds any more. After a failure they stay, which the log says. */
export function createUnheldFiles(deps: UnheldDeps): UnheldFiles {
  const removeIds: UnheldFiles['removeIds'] = async (app, ids) => {
    for (let from = 0; from < ids.length; from += maxTogether) {
      await removeSome(deps, app, ids.slice(from, from + maxTogether))
        .catch(logFailure(deps, 'delete files that no record holds'));
    }
  };
  return {
    remove: (app, deleted) => removeIds(app, [...new Set(deleted.flatMap((record) => filesOf(app, record)))]),
    removeIds,
  };
}

async function removeSome(deps: UnheldDeps, app: AppDefinition, ids: readonly string[]): Promise<void> {
  const { schema, workspace: { database } } = app;
  const holders = referrersTo(app, filesId);
  const gone = await deps.databases.app(database, schema).transaction((sql) =>
    deleteUnheld(sql, { schema, ids, holders })
  );
  for (const id of gone) await removeBytes(deps, app, id);
}

/** The files of a record in fields that say so. */
function filesOf(app: AppDefinition, { collection, fields }: StoredRecord): string[] {
  const declared = app.collections.get(collection)?.fields ?? [];
  return declared.filter(({ delete_with_record }) => delete_with_record === true).flatMap(({ name }) => {
    const value: unknown = fields[name];
    const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
    return ids.filter((id) => typeof id === 'string');
  });
}
