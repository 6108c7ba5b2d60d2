// The cache of the definitions of workspaces, apps and collections.
import type { Databases } from '../../storage/connections/databases.ts';
import { findAppRow, isSameApp } from '../../storage/workspace/apps.ts';
import type { Change } from '../../storage/control/changes.ts';
import { selectCollections } from '../../storage/app/collections.ts';
import type { AppDefinition, AppIdentity, WorkspaceDefinition } from '../../storage/definition.ts';
import { mayBeDropped } from '../../storage/errors.ts';
import { isTenantId } from '../../storage/sql/ids.ts';
import { findWorkspace } from '../../storage/control/workspaces.ts';
import type { Definitions } from '../target.ts';
import { DefinitionLru, evictToFit } from './definition-lru.ts';

interface WorkspaceEntry {
  workspace: WorkspaceDefinition | undefined;
  readonly apps: DefinitionLru;
  /** Loads that are running, so that many requests share one. */
  loadingWorkspace: Promise<WorkspaceDefinition | undefined> | undefined;
  readonly loadingApps: Map<string, Promise<AppDefinition | undefined>>;
}

/** The cache, as the process uses it. */
export interface DefinitionCache extends Definitions {
  /** Invalidates everything, in this process only, because changes may have been missed. */
  invalidateAll(): void;
  /** Calls the listener when an app, a workspace or everything is invalidated. The returned function removes the listener. */
  onInvalidate(listener: InvalidateListener): () => void;
}

/** The size limit of all cached apps, in bytes of JSON. */
const maxCachedBytes = 32 * 1_048_576;

type InvalidateListener = (place: { workspace?: string; app?: string }) => void;

/**
 * Creates the cache of one process. A definition that is invalidated while it is being read is not cached, since its load
 * belongs to a removed entry. Ids that do not exist are not cached. Above `maxBytes`, the oldest apps of the largest
 * workspace are evicted.
 */
export function createDefinitions(
  { databases, mostBytes = maxCachedBytes }: { databases: Databases; mostBytes?: number },
): DefinitionCache {
  return new Cache(databases, mostBytes);
}

class Cache implements DefinitionCache {
  readonly #databases: Databases;
  readonly #maxBytes: number;
  readonly #known = new Map<string, WorkspaceEntry>();
  readonly #listeners = new Set<InvalidateListener>();

  constructor(databases: Databases, mostBytes: number) {
    this.#databases = databases;
    this.#maxBytes = mostBytes;
  }

  peekApp(workspace: string, app: string): AppDefinition | undefined {
    return this.#known.get(workspace)?.apps.get(app);
  }

  async workspace(id: string): Promise<WorkspaceDefinition | undefined> {
    if (!isTenantId(id)) return undefined;
    return await this.#workspaceOf(id, this.#entry(id));
  }

  async app(workspace: string, app: string): Promise<AppDefinition | undefined> {
    if (!isTenantId(workspace) || !isTenantId(app)) return undefined;
    const entry = this.#entry(workspace);
    const known = entry.apps.get(app) ?? entry.loadingApps.get(app);
    if (known !== undefined) return await known;
    const loading = this.#loadApp(workspace, app, entry).finally(() => entry.loadingApps.delete(app));
    entry.loadingApps.set(app, loading);
    return await loading;
  }

  async exists({ workspace, id, schema }: AppIdentity): Promise<boolean> {
    if ((await this.workspace(workspace.id))?.database !== workspace.database) return false;
    return await this.#databases.provisioner(workspace.database).run((sql) => isSameApp(sql, { id, schema }));
  }

  async invalidate(workspace: string, app?: string): Promise<void> {
    const change: Change = app === undefined
      ? { kind: 'workspace', workspace }
      : { kind: 'app', workspace, app };
    this.invalidateLocally(change);
    await this.#databases.notify(change);
  }

  invalidateLocally(change: Change): void {
    if (change.kind === 'workspace') {
      this.#known.delete(change.workspace);
      this.#notify({ workspace: change.workspace });
    } else if (change.kind === 'app') {
      this.#forgetApp(change);
      this.#notify({ workspace: change.workspace, app: change.app });
    }
  }

  invalidateAll(): void {
    this.#known.clear();
    this.#notify({});
  }

  onInvalidate(listener: InvalidateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(place: Parameters<InvalidateListener>[0]): void {
    for (const listener of this.#listeners) listener(place);
  }

  #forgetApp(change: Extract<Change, { kind: 'app' }>): void {
    const entry = this.#known.get(change.workspace);
    if (entry === undefined) return;
    const apps = entry.apps.without(change.app);
    this.#known.set(change.workspace, { ...blank(), workspace: entry.workspace, apps });
  }

  #entry(workspace: string): WorkspaceEntry {
    const known = this.#known.get(workspace);
    if (known !== undefined) return known;
    const entry = blank();
    this.#known.set(workspace, entry);
    return entry;
  }

  async #workspaceOf(id: string, entry: WorkspaceEntry): Promise<WorkspaceDefinition | undefined> {
    if (entry.workspace !== undefined) return entry.workspace;
    entry.loadingWorkspace ??= this.#databases.control.run((sql) => findWorkspace(sql, id));
    try {
      entry.workspace = await entry.loadingWorkspace;
    } finally {
      entry.loadingWorkspace = undefined;
      if (entry.workspace === undefined && this.#known.get(id) === entry) this.#known.delete(id);
    }
    return entry.workspace;
  }

  async #loadApp(workspaceId: string, id: string, entry: WorkspaceEntry): Promise<AppDefinition | undefined> {
    const workspace = await this.#workspaceOf(workspaceId, entry);
    if (workspace === undefined) return undefined;
    const { database } = workspace;
    const row = await this.#databases.workspace(database).run((sql) => findAppRow(sql, id));
    if (row === undefined) return undefined;
    const { name, schema, created_at, updated_at } = row;
    const reading = this.#databases.app(database, schema).run((sql) => selectCollections(sql, schema));
    const found = await reading.catch(async (error) => {
      if (mayBeDropped(error) && !await this.exists({ workspace, id, schema })) return undefined;
      throw error;
    });
    if (found === undefined) return undefined;
    const collections = new Map(found.map((collection) => [collection.id, collection]));
    const app: AppDefinition = { workspace, id, name, schema, created_at, updated_at, collections };
    entry.apps.add(app);
    evictToFit([...this.#known.values()].map(({ apps }) => apps), this.#maxBytes);
    return app;
  }
}

function blank(): WorkspaceEntry {
  return {
    workspace: undefined,
    apps: new DefinitionLru(),
    loadingWorkspace: undefined,
    loadingApps: new Map(),
  };
}
