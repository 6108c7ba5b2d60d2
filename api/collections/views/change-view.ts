// Changes the query of a view.
import { updateCollection } from '../../../storage/app/collections.ts';
import { dropView, viewsOf } from '../../../storage/app/views/views.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Caller } from '../../audit/actor.ts';
import { fail, failValidation } from '../../errors.ts';
import { failNoCollection } from '../../target.ts';
import { changeCollections, type ChangeDeps } from '../change.ts';
import { identityErrors } from '../declaration/changed-definition.ts';
import { type CollectionResponse, showCollection } from '../response.ts';
import { withinSizeLimit } from '../size-limit.ts';
import { type DeclaredMembers, makeView, viewErrors } from './declared-view.ts';
import { namesOf } from './needs.ts';

/** A new declaration of a view. */
export interface ViewChange {
  id: string;
  declared: DeclaredMembers & { id?: string | undefined; kind?: string | undefined };
  by: Caller;
}

/**
 * Replaces the query of a view. Throws `400 validation` with all errors, `404` when it was dropped, `409 conflict` while other
 * views read it.
 */
export async function changeView(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, declared, by }: ViewChange,
): Promise<CollectionResponse> {
  return await changeCollections(deps, app, {
    by,
    work: async (scope) => {
      const { sql, schema, collections, audit } = scope;
      const before = collections.get(id) ?? failNoCollection(id);
      const errors = [...identityErrors(before, declared), ...viewErrors(declared)];
      const { query } = declared;
      if (errors.length > 0 || query === undefined) failValidation(errors);
      const view = { schema, collection: id };
      const readers = await viewsOf(sql, view, collections);
      if (readers.length > 0) {
        fail('conflict', `"${id}" is read by ${namesOf(readers)}: drop what reads it first`);
      }
      await dropView(sql, view);
      const after = await makeView(scope, id, query);
      await withinSizeLimit(scope, () => updateCollection(sql, schema, { id, ...after, now: by.now }));
      await audit('collection_update', id, { from: { query: before.query }, to: { query } });
      return showCollection({ ...before, ...after, updated_at: by.now });
    },
  });
}
