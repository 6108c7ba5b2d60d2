// What a URL names: the workspace, app and collection behind its parameters, or the 404 that says which is missing.
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

/** The cache of definitions, as requests use it. */
export interface Definitions {
  /** A definition that is in memory, without waiting; for the hot path. */
  peekApp(workspace: string, app: string): AppDefinition | undefined;
  workspace(id: string): Promise<WorkspaceDefinition | undefined>;
  app(workspace: string, app: string): Promise<AppDefinition | undefined>;
  /** Whether an app is still there, once whoever may be deleting it has come to an end. */
  exists(app: AppIdentity): Promise<boolean>;
  /** Forgets what is known of a workspace or one of its apps, here at once and in other processes soon. */
  invalidate(workspace: string, app?: string): Promise<void>;
  /** Forgets in this process only, when the change has been published with its own transaction. */
  invalidateLocally(change: Change): void;
}

/** The definitions that a route's path promises its handler. */
export type RouteTarget<Path extends string> =
  & (Path extends `${string}/:workspace${string}` ? { workspace: WorkspaceDefinition } : unknown)
  & (Path extends `${string}/:app${string}` ? { app: AppDefinition } : unknown)
  & (Path extends `${string}/:coll${string}` ? { collection: CollectionDefinition } : unknown);

/** All that can be found; which members are set follows from the path's parameters. */
export interface AnyTarget {
  workspace?: WorkspaceDefinition;
  app?: AppDefinition;
  collection?: CollectionDefinition;
}

const nothing: AnyTarget = {};

/** Finds what the parameters name. Throws `404` `workspace_not_found`, `app_not_found` or `not_found`. */
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

/** An app that may not be in memory. Throws `404` `workspace_not_found` or `app_not_found`. */
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

/** A collection of an app, also a built-in one. Throws `404 not_found`. */
export function requireCollection(app: AppDefinition, id: string): CollectionDefinition {
  return readableCollection(app, id) ?? failNoCollection(id);
}

/**
 * Keeps exactly this workspace from being deleted until a transaction of the control database ends, for what is written
 * there under its id alone: it may be another's by now. Throws `404 workspace_not_found`.
 */
export async function lockWorkspace(
  control: Sql,
  workspace: Pick<WorkspaceDefinition, 'id' | 'database'>,
): Promise<void> {
  if (!await isSameWorkspace(control, workspace)) failNoWorkspace(workspace.id);
}

/** Ends a request for a workspace that does not exist. */
export function failNoWorkspace(id: string): never {
  fail('workspace_not_found', `workspace "${id}" does not exist`);
}

/** Ends a request for an app that does not exist. */
export function failNoApp(id: string): never {
  fail('app_not_found', `app "${id}" does not exist`);
}

/** Ends a request for a collection that does not exist. */
export function failNoCollection(id: string): never {
  fail('not_found', `collection "${id.slice(0, 100)}" does not exist`);
}
