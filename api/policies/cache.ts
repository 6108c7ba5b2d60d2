// The cache of policies: read once for each workspace, and invalidated when they change.
import type { Change } from '../../storage/control/changes.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import { isTenantId } from '../../storage/sql/ids.ts';
import { listPoliciesFor, type PolicyLevel, type PolicyRow } from '../../storage/control/policies.ts';
import type { TenantPath } from '../scope.ts';
import { levelName, type LevelSpec } from './chain.ts';
import { storedSpec } from './stored.ts';

/** The policy that a level has set, with the time of the change. */
export interface PolicyEntry extends LevelSpec {
  updatedAt: Date;
}

type Fields = Map<string, PolicyEntry>;

/** The policies that apply in one workspace, or at the system alone, by level. */
interface WorkspacePolicies {
  readonly system: Fields;
  readonly workspace: Fields;
  readonly apps: Map<string, Fields>;
}

/** The key of the system's own policies. */
const systemKey = '';

/** The policies in the memory of one process. A read that is under way when they are invalidated is not cached. */
export class PolicyCache {
  readonly #databases: Databases;
  /** By the id of the workspace. */
  readonly #cached = new Map<string, Promise<WorkspacePolicies>>();
  #revision = 0;

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /** Changes with every invalidation, after which values derived from policies are stale. */
  get revision(): number {
    return this.#revision;
  }

  /** The policies of a field at a level and those above it, from the top. Throws `StorageError`. */
  async levels(field: string, at: TenantPath): Promise<PolicyEntry[]> {
    const levels = await this.#levels(at);
    return levels.map((fields) => fields.get(field)).filter((entry) => entry !== undefined);
  }

  /** The fields that are set at a level or above it. Throws `StorageError`. */
  async fields(at: TenantPath): Promise<Set<string>> {
    const levels = await this.#levels(at);
    return new Set(levels.flatMap((fields) => [...fields.keys()]));
  }

  /** Invalidates what a change concerns, of this process or of another. */
  onChange(change: Change): void {
    if (change.kind !== 'workspace' && change.kind !== 'policies') return;
    this.#revision++;
    if (change.workspace === undefined) this.#cached.clear();
    else this.#cached.delete(change.workspace);
  }

  /** Invalidates everything, since changes may have been missed. */
  invalidateAll(): void {
    this.#revision++;
    this.#cached.clear();
  }

  async #levels({ workspace, app }: TenantPath): Promise<Fields[]> {
    const policies = await this.#read(workspace);
    if (workspace === undefined) return [policies.system];
    const own = app === undefined ? undefined : policies.apps.get(app);
    return [policies.system, policies.workspace, ...(own === undefined ? [] : [own])];
  }

  #read(workspace: string | undefined): Promise<WorkspacePolicies> {
    const key = workspace !== undefined && isTenantId(workspace) ? workspace : systemKey;
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    const loading = this.#databases.control
      .run((sql) => listPoliciesFor(sql, key === systemKey ? undefined : key))
      .then(groupByLevel);
    this.#cached.set(key, loading);
    // A failed read is not cached.
    loading.catch(() => this.#cached.get(key) === loading && this.#cached.delete(key));
    return loading;
  }
}

/** The entries of a level and those above it, of the rows of one field. The rows have parents first, and so has the result. */
export function entriesAt(rows: readonly PolicyRow[], { workspace, app }: PolicyLevel): PolicyEntry[] {
  const isAtOrAbove = (row: PolicyLevel) =>
    row.workspace === null || row.workspace === workspace && (row.app === null || row.app === app);
  return rows.filter(isAtOrAbove).map(toEntry);
}

function toEntry(row: PolicyRow): PolicyEntry {
  return { level: levelName(row), spec: storedSpec(row.spec), updatedAt: row.updated_at };
}

function groupByLevel(rows: readonly PolicyRow[]): WorkspacePolicies {
  const policies: WorkspacePolicies = { system: new Map(), workspace: new Map(), apps: new Map() };
  for (const row of rows) {
    const { workspace, app, field } = row;
    const entry = toEntry(row);
    if (workspace === null) policies.system.set(field, entry);
    else if (app === null) policies.workspace.set(field, entry);
    else policies.apps.set(app, (policies.apps.get(app) ?? new Map<string, PolicyEntry>()).set(field, entry));
  }
  return policies;
}
