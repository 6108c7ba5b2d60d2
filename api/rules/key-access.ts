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

/** What an API key may read besides the records that are asked for. */
export interface KeyReads {
  /** Set for an API key: whether it may read the records of a collection, to which a relation leads. */
  readonly reads?: ReadableByKey;
  /** Set for an API key: whether it may read the files of an app, to which fields of records lead. */
  readonly readsFiles?: (app: AppDefinition) => boolean;
}

/** What a key may read; nothing is set for callers without one. */
export function readsOfKey(principal: Principal | null): KeyReads {
  const grants = principal?.key?.grants;
  if (grants === undefined) return {};
  const within = ({ workspace, id }: AppDefinition) => ({ workspace: workspace.id, app: id });
  return {
    reads: (app, collection) => hasKeyScope(grants, 'records:read', { ...within(app), collection }),
    readsFiles: (app) => hasKeyScope(grants, 'files:read', within(app)),
  };
}
