// Hooks around the writes of a transaction, none of which runs inside it. The transaction is rehearsed: it is rolled back to
// learn which before-hooks there are to run, and with what. It is committed once all of them have run.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Connection, Sql } from '../../../storage/connections/pool.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { Deps } from '../../deps.ts';
import { fail, failValidation, reasons } from '../../errors.ts';
import { hookActor } from '../../hooks/actor.ts';
import type {
  Actor,
  AppWriteHooks,
  RecordCaller,
  RecordHooks,
  WriteAction,
  WriteHooks,
} from '../../hooks/ports.ts';
import { withErrorPrefix } from '../input/error-prefix.ts';
import { withoutModifiersOf } from '../modifiers/modifiers.ts';
import type { RecordInput } from '../input/values.ts';

/** How before-hooks have changed the input of a write. */
export interface HookedInput {
  /** The input as the caller sent it, which rules know as the body. */
  body: RecordInput;
  /** The fields that hooks have set: they are not held to what the caller may reach. */
  fields: ReadonlySet<string>;
}

/** The input with the changes of hooks, which are checked like what a caller sends. Throws `400 validation`. */
export function applyHookChanges(
  body: RecordInput,
  changes: RecordInput = {},
): { input: RecordInput; hooked: HookedInput } {
  // A caller may choose the id of a new record. Hooks have seen which it is.
  if (Object.hasOwn(changes, 'id')) failValidation([{ field: 'id', reason: reasons.unknown }]);
  const fields = new Set(Object.keys(changes));
  return { input: { ...withoutModifiersOf(body, fields), ...changes }, hooked: { body, fields } };
}

/** A write in a transaction that is rehearsed. */
export interface RehearsedWrite {
  action: WriteAction;
  collection: string;
  record: StoredRecord;
  previous: StoredRecord | null;
  /** True for the create of a profile that makes its user. */
  registers?: boolean;
}

/** A write whose before-hooks have not run. */
interface PendingWrite extends RehearsedWrite {
  key: string;
  hooks: WriteHooks;
  /** The name of the write in a batch. */
  name: string | undefined;
}

/** Ends a rehearsal. */
class RolledBack extends Error {}

const maxRehearsals = 5;

/** The hooks around the writes of one transaction, in one app. */
export class Rehearsal {
  readonly #hooks: AppWriteHooks;
  readonly #actor: Actor;
  /** By write, the changes of its before-hooks, once they have run. */
  readonly #changes = new Map<string, RecordInput | undefined>();
  #writes = 0;
  #name: string | undefined;
  #pending: PendingWrite[] = [];
  #done: { hooks: WriteHooks; record: StoredRecord; previous: StoredRecord | null }[] = [];

  constructor(hooks: AppWriteHooks, actor: Actor) {
    this.#hooks = hooks;
    this.#actor = actor;
  }

  /** True when any hook runs before or after such a write. `registers`: it makes a user, or may. */
  concerns(collection: string, action: WriteAction, registers = false): boolean {
    return this.#hooks.on(collection, action, registers) !== undefined;
  }

  /** Names the next writes: errors of their hooks begin with it. */
  setName(name: string): void {
    this.#name = name;
  }

  /**
   * The changes that before-hooks make to a record; undefined also while they have not run. To be called inside the
   * transaction, in the order of the writes.
   */
  hookChanges(write: RehearsedWrite): RecordInput | undefined {
    const hooks = this.#hooks.on(write.collection, write.action, write.registers);
    if (hooks?.before !== true) return undefined;
    // The same write of the same transaction, of a record that is still the same.
    const key = JSON.stringify([this.#writes++, write]);
    if (!this.#changes.has(key)) this.#pending.push({ ...write, key, hooks, name: this.#name });
    return this.#changes.get(key);
  }

  /** Adds a write that is done once the transaction is committed. */
  addDone({ action, collection, record, previous }: RehearsedWrite): void {
    const hooks = this.#hooks.on(collection, action);
    if (hooks?.after === true) this.#done.push({ hooks, record, previous });
  }

  /** Runs work in a transaction, after all its before-hooks. Throws what hooks throw, and `409 conflict`. */
  run<Result>(connection: Connection, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return rehearse([this], connection, work);
  }

  /** Drops the writes of an earlier rehearsal, but not the changes of their hooks. */
  begin(): void {
    this.#writes = 0;
    this.#pending = [];
    this.#done = [];
  }

  /** True when there are before-hooks of this rehearsal that have not run. */
  get isPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Runs the after-hooks of all writes, one after another. */
  async runAfterHooks(): Promise<void> {
    for (const { hooks, record, previous } of this.#done) {
      await hooks.runAfter({ actor: this.#actor, record, previous });
    }
  }

  /**
   * Runs the before-hooks that have not run. Once one of them changes something, later writes may be others in the next
   * rehearsal, but for creates.
   */
  async runPendingHooks(): Promise<void> {
    let hasChanges = false;
    for (const { key, hooks, name, action, ...write } of this.#pending) {
      if (hasChanges && action !== 'create') return;
      const changes = await withErrorPrefix(
        name,
        () => hooks.runBefore({ ...write, actor: this.#actor }),
      );
      this.#changes.set(key, changes);
      hasChanges ||= changes !== undefined;
    }
  }
}

/** The rehearsal of a transaction in an app; undefined for an app without hooks. Throws `503` when its hooks are not known. */
export async function startRehearsal(
  deps: Pick<Deps, 'databases'> & { hooks: RecordHooks },
  app: AppDefinition,
  caller: RecordCaller | undefined,
): Promise<Rehearsal | undefined> {
  const hooks = await deps.hooks.getWriteHooks(app);
  return hooks.isEmpty ? undefined : new Rehearsal(hooks, hookActor(deps, app, caller));
}

/** Runs work in a transaction over several apps, after all its before-hooks. Throws as `run` does. */
export async function rehearse<Result>(
  rehearsals: readonly Rehearsal[],
  connection: Connection,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  for (let rehearsed = 0; rehearsed <= maxRehearsals; rehearsed++) {
    for (const rehearsal of rehearsals) rehearsal.begin();
    const ended = await attempt(rehearsals, connection, work);
    if (ended !== undefined) return ended.result;
    for (const rehearsal of rehearsals) await rehearsal.runPendingHooks();
  }
  return fail('conflict', 'the records kept changing while hooks looked at them; try again');
}

/** Ends a rehearsal here when before-hooks have not run: what follows must happen only once. */
export function stopIfPending(rehearsals: readonly Rehearsal[]): void {
  if (rehearsals.some(({ isPending }) => isPending)) throw new RolledBack();
}

async function attempt<Result>(
  rehearsals: readonly Rehearsal[],
  connection: Connection,
  work: (sql: Sql) => Promise<Result>,
): Promise<{ result: Result } | undefined> {
  try {
    return await connection.transaction(async (sql) => {
      const result = await work(sql);
      stopIfPending(rehearsals);
      return { result };
    });
  } catch (error) {
    if (error instanceof RolledBack) return undefined;
    throw error;
  }
}
