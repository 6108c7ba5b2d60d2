// What every level has set, in memory: read once a workspace, forgotten when it changes.
import type { Change } from '../../storage/control/changes.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import { isTenantId } from '../../storage/sql/ids.ts';
import { listPoliciesFor, type PolicyLevel, type PolicyRow } from '../../storage/control/policies.ts';
import type { TenantPath } from '../scope.ts';
import { levelAt, type LevelSpec } from './chain.ts';
import { storedSpec } from './stored.ts';

/** One level's setting, and when it was made. */
export interface PolicyEntry extends LevelSpec {
  updatedAt: Date;
}

type Fields = Map<string, PolicyEntry>;

/** The rows that count in one workspace (or, without one, at the system), by level. */
interface WorkspacePolicies {
  readonly system: Fields;
  readonly workspace: Fields;
  readonly apps: Map<string, Fields>;
}

/** A place without a workspace. */
const systemKey = '';

/**
 * The policies as one process knows them. What is forgotten while it is being read is not kept: the load then belongs
 * to nobody's entry.
 */
export class PolicyCache {
  readonly #databases: Databases;
  readonly #chapters = new Map<string, Promise<WorkspacePolicies>>();
  #revision = 0;

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /** Another number whenever something was forgotten: what was made of policies before is to be made again. */
  get revision(): number {
    return this.#revision;
  }

  /** What the levels down to this place have set of a field, from the top. Throws `StorageError`. */
  async levels(field: string, at: TenantPath): Promise<PolicyEntry[]> {
    const fields = await this.#at(at);
    return fields.map((known) => known.get(field)).filter((entry) => entry !== undefined);
  }

  /** Names of all fields that a level down to this place has set. Throws `StorageError`. */
  async fields(at: TenantPath): Promise<Set<string>> {
    const fields = await this.#at(at);
    return new Set(fields.flatMap((known) => [...known.keys()]));
  }

  /** Forgets what another process, or this one, has changed. */
  onChange(change: Change): void {
    if (change.kind !== 'workspace' && change.kind !== 'policies') return;
    this.#revision++;
    if (change.workspace === undefined) this.#chapters.clear();
    else this.#chapters.delete(change.workspace);
  }

  /** Forgets everything: changes may have been missed. */
  invalidateAll(): void {
    this.#revision++;
    this.#chapters.clear();
  }

  async #at({ workspace, app }: TenantPath): Promise<Fields[]> {
    const chapter = await this.#chapter(workspace);
    if (workspace === undefined) return [chapter.system];
    const own = app === undefined ? undefined : chapter.apps.get(app);
    return own === undefined ? [chapter.system, chapter.workspace] : [chapter.system, chapter.workspace, own];
  }

  #chapter(workspace: string | undefined): Promise<WorkspacePolicies> {
    const key = workspace !== undefined && isTenantId(workspace) ? workspace : systemKey;
    const known = this.#chapters.get(key);
    if (known !== undefined) return known;
    const loading = this.#databases.control
      .run((sql) => listPoliciesFor(sql, key === systemKey ? undefined : key))
      .then(chapterOf);
    this.#chapters.set(key, loading);
    // A failed read is not an answer: the next one asks again.
    loading.catch(() => this.#chapters.get(key) === loading && this.#chapters.delete(key));
    return loading;
  }
}

/** What the levels down to a place have set, of rows of one field that come parents first. */
export function entriesAt(rows: readonly PolicyRow[], { workspace, app }: PolicyLevel): PolicyEntry[] {
  const isOnTheWay = (row: PolicyLevel) =>
    row.workspace === null || row.workspace === workspace && (row.app === null || row.app === app);
  return rows.filter(isOnTheWay).map(entryOf);
}

function entryOf(row: PolicyRow): PolicyEntry {
  return { level: levelAt(row), spec: storedSpec(row.spec), updatedAt: row.updated_at };
}

function chapterOf(rows: readonly PolicyRow[]): WorkspacePolicies {
  const chapter: WorkspacePolicies = { system: new Map(), workspace: new Map(), apps: new Map() };
  for (const row of rows) {
    const { workspace, app, field } = row;
    const entry = entryOf(row);
    if (workspace === null) chapter.system.set(field, entry);
    else if (app === null) chapter.workspace.set(field, entry);
    else chapter.apps.set(app, (chapter.apps.get(app) ?? new Map<string, PolicyEntry>()).set(field, entry));
  }
  return chapter;
}
