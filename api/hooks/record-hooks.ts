// Record hooks as writes of records call them: asked before a write, told after it.
import { type EventNameOf, hookEvents } from '../../hook-runner/events.ts';
import type { HookRecord } from '../../hook-runner/calls.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { findRounded } from '../../storage/sql/exact-number.ts';
import { failValidation } from '../errors.ts';
import type { AppHooks } from './app-hooks.ts';
import type { AppWriteHooks, HookedWrite, WriteHooks } from './ports.ts';
import type { Registrations, UserEvent, WriteEvents } from './registrations.ts';
import { type HookEvent, refuseBroken, runAfterEvent, runBeforeEvent } from './run-event.ts';
import { userEvent } from './user-hooks.ts';

type Changes = Readonly<Record<string, unknown>>;

/** The record hooks of an app that are registered. */
export function makeWriteHooks(hooks: AppHooks, registrations: Registrations): AppWriteHooks {
  return {
    isEmpty: registrations.files.length === 0 && registrations.broken.length === 0,
    on(collection, action, registers = false) {
      const events = registrations.findWriteEvents(collection, action);
      const register = registers ? registrations.findUserEvent('before_register') : undefined;
      return events === undefined && register === undefined ? undefined : wrap(hooks, events ?? {}, register);
    },
  };
}

function wrap(
  hooks: AppHooks,
  { before, after, isRefused = false }: WriteEvents,
  register: UserEvent | undefined,
): WriteHooks {
  const runRecordHooks = async (write: HookedWrite): Promise<Changes> => {
    if (isRefused) return await refuseBroken(hooks);
    return before === undefined ? {} : await ask(hooks, write, recordEvent(before, write));
  };
  const runAfterRegister = async (write: HookedWrite, registered: Changes): Promise<Changes> => {
    const { record } = write;
    const seen = { ...write, record: { ...record, fields: { ...record.fields, ...registered } } };
    return { ...registered, ...await runRecordHooks(seen) };
  };
  return {
    before: before !== undefined || isRefused || register !== undefined,
    after: after !== undefined,
    async runBefore(write) {
      const changes = write.registers === true && register !== undefined
        ? await runAfterRegister(write, await askToRegister(hooks, write, register))
        : await runRecordHooks(write);
      return Object.keys(changes).length === 0 ? undefined : changes;
    },
    runAfter: async (write) => {
      if (after !== undefined) await runAfterEvent(hooks, recordEvent(after, write));
    },
  };
}

async function askToRegister(
  hooks: AppHooks,
  write: HookedWrite,
  { isRefused }: UserEvent,
): Promise<Changes> {
  if (isRefused) return await refuseBroken(hooks);
  const { actor, record } = write;
  const { id, fields: { email } } = record;
  const user = { id, email: String(email), verified: false };
  return await ask(
    hooks,
    write,
    userEvent('before_register', { actor, user, method: 'profile', profile: record }),
  );
}

async function ask(hooks: AppHooks, { record }: HookedWrite, event: HookEvent): Promise<Changes> {
  const changes = await runBeforeEvent(hooks, event);
  refuseRounded(record, changes);
  return changes;
}

/** A hook that copies JSON as text rounds numbers that a double cannot hold, without a word. */
function refuseRounded({ fields }: StoredRecord, changes: Changes): void {
  const field = findRounded(fields, changes);
  if (field === undefined) return;
  const reason = 'the hook has rounded this number; copy it by { ...value }, or make it with JSON.rawJSON';
  failValidation([{ field, reason }]);
}

function recordEvent(
  name: EventNameOf<'record'>,
  { actor, record, previous }: HookedWrite,
): HookEvent {
  const { hasPrevious } = hookEvents[name];
  const { collection } = record;
  return {
    name,
    collection,
    actor,
    write: (id, auth) => ({
      type: 'event',
      id,
      event: name,
      collection,
      record: shown(record),
      previous: hasPrevious && previous !== null ? shown(previous) : null,
      auth,
      request_id: actor.requestId,
    }),
  };
}

/** Records hold what JSON can say: they came from JSON, or from PostgreSQL. */
function shown(record: StoredRecord): HookRecord {
  return record as HookRecord;
}
