// Writes in a transaction that hooks are asked about, without a hook ever running inside it: the transaction is rehearsed and
// undone to learn the questions, and done when all of them are answered.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Connection, Sql } from '../../../storage/connections/pool.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { hookActorOf } from '../../hooks/actor.ts';
import type {
  Actor,
  AppWriteHooks,
  Author,
  RecordHooks,
  WriteAction,
  WriteHooks,
} from '../../hooks/ports.ts';
import { naming } from '../input/error-prefix.ts';
import type { RecordInput } from '../input/values.ts';

/** How before-hooks have changed the input of a write. */
export interface Hooked {
  /** The input as the caller sent it: what rules know as the body. */
  body: RecordInput;
  /** The fields that hooks have set: they are not held to what the caller may reach. */
  fields: ReadonlySet<string>;
}

/** The input with the changes of hooks, which are checked like what a caller sends. Throws `400 validation`. */
export function applyHookChanges(
  body: RecordInput,
  changes: RecordInput = {},
): { input: RecordInput; hooked: Hooked } {
  // A caller may send the id of a new record. Hooks have been told which it is.
  if (Object.hasOwn(changes, 'id')) fail('validation', 'id: unknown field');
  return { input: { ...body, ...changes }, hooked: { body, fields: new Set(Object.keys(changes)) } };
}

/** A write that hooks may have something to say to. */
export interface Question {
  action: WriteAction;
  collection: string;
  record: StoredRecord;
  previous: StoredRecord | null;
}

interface Pending extends Question {
  key: string;
  hooks: WriteHooks;
  /** Of the write that it is about, where there are several. */
  name: string | undefined;
}

/** Undoes a rehearsal. */
class Undone extends Error {}

const mostRehearsals = 5;

/** The hooks around the writes of one transaction. */
export class Rehearsal {
  readonly #hooks: AppWriteHooks;
  readonly #actor: Actor;
  readonly #answers = new Map<string, RecordInput | undefined>();
  #asked = 0;
  #name: string | undefined;
  #pending: Pending[] = [];
  #done: { hooks: WriteHooks; record: StoredRecord; previous: StoredRecord | null }[] = [];

  constructor(hooks: AppWriteHooks, actor: Actor) {
    this.#hooks = hooks;
    this.#actor = actor;
  }

  /** Whether any hook is called before or after such a write. */
  concerns(collection: string, action: WriteAction): boolean {
    return this.#hooks.on(collection, action) !== undefined;
  }

  /** Says which of several writes the next questions are about; what hooks say to it begins with its name. */
  goOnTo(name: string): void {
    this.#name = name;
  }

  /** What the before-hooks change of a record: to be called inside the transaction, in the order of the writes. */
  ask(question: Question): RecordInput | undefined {
    const hooks = this.#hooks.on(question.collection, question.action);
    if (hooks?.before !== true) return undefined;
    // The same write of the same transaction, of a record that is still the same.
    const key = JSON.stringify([this.#asked++, question]);
    if (!this.#answers.has(key)) this.#pending.push({ ...question, key, hooks, name: this.#name });
    return this.#answers.get(key);
  }

  /** Notes a write that is done when the transaction is. */
  note({ action, collection, record, previous }: Question): void {
    const hooks = this.#hooks.on(collection, action);
    if (hooks?.after === true) this.#done.push({ hooks, record, previous });
  }

  /** Runs the work in a transaction once all its questions have answers. Throws what hooks throw, and `409 conflict`. */
  run<Result>(connection: Connection, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return rehearse([this], connection, work);
  }

  /** Forgets what an earlier attempt has asked and done, not what it was answered. */
  begin(): void {
    this.#asked = 0;
    this.#pending = [];
    this.#done = [];
  }

  /** Whether a question of this attempt has no answer yet. */
  get isPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Runs the after-hooks of all that was done, one after another. */
  async tell(): Promise<void> {
    for (const { hooks, record, previous } of this.#done) {
      await hooks.tell({ actor: this.#actor, record, previous });
    }
  }

  /**
   * Asks what has no answer yet. After an answer that changes something, only creates are sure to be asked in the same words
   * again.
   */
  async askPending(): Promise<void> {
    let hasChanges = false;
    for (const { key, hooks, name, action, record, previous } of this.#pending) {
      if (hasChanges && action !== 'create') return;
      const changes = await naming(name, () => hooks.ask({ actor: this.#actor, record, previous }));
      this.#answers.set(key, changes);
      hasChanges ||= changes !== undefined;
    }
  }
}

/** Of a transaction in an app, with its hooks as they are now; undefined where it has none. Throws when they are not known. */
export async function rehearsalOf(
  deps: Pick<Deps, 'databases'> & { hooks: RecordHooks },
  app: AppDefinition,
  by: Author | undefined,
): Promise<Rehearsal | undefined> {
  const hooks = await deps.hooks.writesOf(app);
  return hooks.isEmpty ? undefined : new Rehearsal(hooks, hookActorOf(deps, app, by));
}

/** Runs work in a transaction over several apps once all questions have answers. Throws as `run` does. */
export async function rehearse<Result>(
  rehearsals: readonly Rehearsal[],
  connection: Connection,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  for (let turns = 0; turns <= mostRehearsals; turns++) {
    for (const rehearsal of rehearsals) rehearsal.begin();
    const ended = await attempt(rehearsals, connection, work);
    if (ended !== undefined) return ended.result;
    for (const rehearsal of rehearsals) await rehearsal.askPending();
  }
  return fail('conflict', 'the records kept changing while hooks looked at them; try again');
}

/** Ends the attempt here when a question has no answer yet: what follows must not be rehearsed. */
export function holdOff(rehearsals: readonly Rehearsal[]): void {
  if (rehearsals.some(({ isPending }) => isPending)) throw new Undone();
}

async function attempt<Result>(
  rehearsals: readonly Rehearsal[],
  connection: Connection,
  work: (sql: Sql) => Promise<Result>,
): Promise<{ result: Result } | undefined> {
  try {
    return await connection.transaction(async (sql) => {
      const result = await work(sql);
      holdOff(rehearsals);
      return { result };
    });
  } catch (error) {
    if (error instanceof Undone) return undefined;
    throw error;
  }
}
