// Drops a collection with all its records.
import { deleteCollection } from '../../storage/app/collections.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { dropTable } from '../../storage/app/alter/table.ts';
import type { Caller } from '../audit/actor.ts';
import { fail } from '../errors.ts';
import { failNoCollection } from '../target.ts';
import { changeCollections, type ChangeDeps } from './change.ts';
import { relationsTo } from './declaration/targets.ts';

/** Drops a collection. Throws `404` when it was dropped already, `409 conflict` with the relations that point to it. */
export async function dropCollection(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, by }: { id: string; by: Caller },
): Promise<{ ok: true }> {
  return await changeCollections(deps, app, {
    by,
    work: async ({ sql, schema, collections, audit }) => {
      const { kind, fields, indexes } = collections.get(id) ?? failNoCollection(id);
      const relations = relationsTo(id, collections.values());
      if (relations.length > 0) {
        fail(
          'conflict',
          `collection "${id}" is the target of ${relations.join(', ')}; drop those fields first`,
        );
      }
      await dropTable(sql, { schema, collection: id }, { fields, indexes });
      await deleteCollection(sql, schema, id);
      await audit('collection_delete', id, { from: { kind, fields: fields.map(({ name }) => name) } });
      return { ok: true };
    },
  });
}
