// Drops a collection with all its records.
import { deleteCollection } from '../../storage/app/collections.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { dropTable } from '../../storage/app/alter/table.ts';
import { dropView } from '../../storage/app/views/views.ts';
import type { Caller } from '../audit/actor.ts';
import { fail } from '../errors.ts';
import { failNoCollection } from '../target.ts';
import { changeCollections, type ChangeDeps } from './change.ts';
import { relationsTo } from './declaration/targets.ts';
import { requireUnread } from './views/needs.ts';

/** Drops a collection. Throws `404` when it was dropped already, `409 conflict` with what points to it or reads it. */
export async function dropCollection(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, by }: { id: string; by: Caller },
): Promise<{ ok: true }> {
  return await changeCollections(deps, app, {
    by,
    work: async (scope) => {
      const { sql, schema, collections, audit } = scope;
      const { kind, fields, indexes, search } = collections.get(id) ?? failNoCollection(id);
      const relations = relationsTo(id, collections.values());
      if (relations.length > 0) {
        fail(
          'conflict',
          `collection "${id}" is the target of ${relations.join(', ')}; drop those fields first`,
        );
      }
      await requireUnread(scope, id);
      const table = { schema, collection: id };
      await (kind === 'view' ? dropView(sql, table) : dropTable(sql, table, { fields, indexes, search }));
      await deleteCollection(sql, schema, id);
      await audit('collection_delete', id, { from: { kind, fields: fields.map(({ name }) => name) } });
      return { ok: true };
    },
  });
}
