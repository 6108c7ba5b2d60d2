// What the scopes of an API key admit of records.
import type { Action, AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { hasKeyScope, type KeyScope, requireKeyScope } from '../contract/key-scopes.ts';
import type { Principal } from '../scope.ts';

const scopeOf: Record<Action, KeyScope> = {
  list: 'records:read',
  get: 'records:read',
  create: 'records:write',
  update: 'records:write',
  delete: 'records:write',
};

/** Throws `403 forbidden` for a key without the scope of an action. Others need none. */
export function requireKeyAction(
  principal: Principal | null,
  action: Action,
  { app, collection }: { app: AppDefinition; collection: CollectionDefinition },
): void {
  requireKeyScope(principal, scopeOf[action], {
    workspace: app.workspace.id,
    app: app.id,
    collection: collection.id,
  });
}

/** True for the collections, by id, whose records a key may read. */
export type ReadableByKey = (app: AppDefinition, collection: string) => boolean;

/** The collections that a key may read; undefined for callers without one. */
export function readableByKey(principal: Principal | null): ReadableByKey | undefined {
  const grants = principal?.key?.grants;
  return grants &&
    (({ workspace, id }, collection) =>
      hasKeyScope(grants, 'records:read', { workspace: workspace.id, app: id, collection }));
}
