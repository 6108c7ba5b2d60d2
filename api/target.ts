// Finds the workspace, app and collection that a URL names, or fails with a 404 that says which is missing.
import type { Change } from '../storage/control/changes.ts';
import type { Sql } from '../storage/connections/pool.ts';
import type {
  AppDefinition,
  AppIdentity,
  CollectionDefinition,
  WorkspaceDefinition,
} from '../storage/definition.ts';
import { readableCollection } from '../storage/workspace/identities.ts';
import { isSameWorkspace } from '../storage/control/workspaces.ts';
import { fail } from './errors.ts';

/** The cache of the definitions of workspaces and apps. */
export interface Definitions {
  /** Finds a definition that is in memory. */
  peekApp(workspace: string, app: string): AppDefinition | undefined;
  workspace(id: string): Promise<WorkspaceDefinition | undefined>;
  app(workspace: string, app: string): Promise<AppDefinition | undefined>;
  /** Resolves with true when an app still exists, after the end of a deletion that may be under way. */
  exists(app: AppIdentity): Promise<boolean>;
  /** Invalidates what is cached of a workspace or one of its apps, here at once and in other processes soon. */
  invalidate(workspace: string, app?: string): Promise<void>;
  /** Invalidates in this process only, for a change whose own transaction has notified the others. */
  invalidateLocally(change: Change): void;
}

/** The definitions that the path of a route names, for its handler. */
export type RouteTarget<Path extends string> =
  & (Path extends `${string}/:workspace${string}` ? { workspace: WorkspaceDefinition } : unknown)
  & (Path extends `${string}/:app${string}` ? { app: AppDefinition } : unknown)
  & (Path extends `${string}/:coll${string}` ? { collection: CollectionDefinition } : unknown);

/** The definitions that a path may name; its parameters decide which are set. */
export interface AnyTarget {
  workspace?: WorkspaceDefinition;
  app?: AppDefinition;
  collection?: CollectionDefinition;
}

const nothing: AnyTarget = {};

/** Finds the definitions that the parameters name. Throws `404` `workspace_not_found`, `app_not_found` or `not_found`. */
export function findTarget(
  definitions: Definitions,
  params: Readonly<Record<string, string>>,
): AnyTarget | Promise<AnyTarget> {
  const { workspace, app, coll } = params;
  if (workspace === undefined) return nothing;
  if (app === undefined) return findWorkspace(definitions, workspace);
  const known = definitions.peekApp(workspace, app);
  return known === undefined
    ? findApp(definitions, workspace, app).then((found) => withCollection(found, coll))
    : withCollection(known, coll);
}

/** Finds an app that may not be in memory. Throws `404` `workspace_not_found` or `app_not_found`. */
export async function findApp(
  definitions: Pick<Definitions, 'workspace' | 'app'>,
  workspace: string,
  app: string,
): Promise<AppDefinition> {
  const found = await definitions.app(workspace, app);
  if (found !== undefined) return found;
  await findWorkspace(definitions, workspace);
  failNoApp(app);
}

async function findWorkspace(definitions: Pick<Definitions, 'workspace'>, id: string): Promise<AnyTarget> {
  return { workspace: await definitions.workspace(id) ?? failNoWorkspace(id) };
}

function withCollection(app: AppDefinition, id: string | undefined): AnyTarget {
  const { workspace } = app;
  return id === undefined ? { workspace, app } : { workspace, app, collection: requireCollection(app, id) };
}

/** Finds a collection of an app, also a built-in one. Throws `404 not_found`. */
export function requireCollection(app: AppDefinition, id: string): CollectionDefinition {
  return readableCollection(app, id) ?? failNoCollection(id);
}

/**
 * Locks a workspace against deletion until a transaction of the control database ends. For writes there that name the
 * workspace by its id alone, which another workspace may have by now. Throws `404 workspace_not_found`.
 */
export async function lockWorkspace(
  control: Sql,
  workspace: Pick<WorkspaceDefinition, 'id' | 'database'>,
): Promise<void> {
  if (!await isSameWorkspace(control, workspace)) failNoWorkspace(workspace.id);
}

/** Throws `404 workspace_not_found`. */
export function failNoWorkspace(id: string): never {
  fail('workspace_not_found', `workspace "${id}" does not exist`);
}

/** Throws `404 app_not_found`. */
export function failNoApp(id: string): never {
  fail('app_not_found', `app "${id}" does not exist`);
}

/** Throws `404 not_found` for a collection. */
export function failNoCollection(id: string): never {
  fail('not_found', `collection "${id.slice(0, 100)}" does not exist`);
}
