// Record hooks as writes of records call them: asked before a write, told after it.
import { type EventNameOf, hookEvents } from '../../hook-runner/events.ts';
import type { EventInvocation, InvocationResult } from '../../hook-runner/protocol.ts';
import type { HookRecord } from '../../hook-runner/calls.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { findRounded } from '../../storage/sql/exact-number.ts';
import { ApiError, fail, failValidation, fieldsError } from '../errors.ts';
import type { AppHooks } from './app-hooks.ts';
import type { AppWriteHooks, HookedWrite, WriteHooks } from './ports.ts';
import type { Registrations, WriteEvents } from './registrations.ts';

type RecordEventName = EventNameOf<'record'>;

const maxDepth = 4;

/** The record hooks of an app that are registered. */
export function makeWriteHooks(hooks: AppHooks, registrations: Registrations): AppWriteHooks {
  return {
    isEmpty: registrations.files.length === 0 && registrations.broken.length === 0,
    on(collection, action) {
      const concern = registrations.findWriteEvents(collection, action);
      return concern === undefined ? undefined : wrap(hooks, concern);
    },
  };
}

function wrap(hooks: AppHooks, { before, after, isRefused = false }: WriteEvents): WriteHooks {
  return {
    before: before !== undefined || isRefused,
    after: after !== undefined,
    runBefore: (write) => {
      if (isRefused) return refuseBroken(hooks);
      return before === undefined ? Promise.resolve(undefined) : ask(hooks, before, write);
    },
    runAfter: (write) => after === undefined ? Promise.resolve() : tell(hooks, after, write),
  };
}

/** Throws `500 hook_error`: a file that does not load has a say in it. */
export async function refuseBroken(hooks: AppHooks): Promise<never> {
  hooks.retryBroken();
  return fail('hook_error', 'the hook file that handles this does not load; the log of the hooks says why');
}

async function ask(
  hooks: AppHooks,
  event: RecordEventName,
  write: HookedWrite,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { requestId } = write.actor;
  const result = await call(hooks, event, write).catch((error: unknown) => {
    // A call that an overload refuses is no fault of the code, and would flood its log.
    if (error instanceof ApiError && error.code === 'hook_error') {
      blame(hooks, event, { write, error });
    }
    throw error;
  });
  switch (result.outcome) {
    case 'done':
      refuseRounded(write, result.changes);
      return Object.keys(result.changes).length === 0 ? undefined : result.changes;
    case 'veto':
      if (result.fault !== null) hooks.log.addFaults([result.fault], requestId);
      throw vetoError(result);
    case 'failed': {
      hooks.log.addFaults(result.faults, requestId);
      const [first] = result.faults;
      return fail('hook_error', first?.message ?? 'the hook failed');
    }
    case 'http_error':
      return fail('hook_error', 'the hook responded as a route');
  }
}

/** A hook that copies JSON as text rounds numbers that a double cannot hold, without a word. */
function refuseRounded({ record }: HookedWrite, changes: Readonly<Record<string, unknown>>): void {
  const field = findRounded(record.fields, changes);
  if (field === undefined) return;
  const reason = 'the hook has rounded this number; copy it by { ...value }, or make it with JSON.rawJSON';
  failValidation([{ field, reason }]);
}

function vetoError({ message, field }: Extract<InvocationResult, { outcome: 'veto' }>): ApiError {
  if (field === undefined) return new ApiError('hook_veto', message);
  return fieldsError('hook_veto', [{ field: field.path, reason: message, code: field.code }]);
}

async function tell(hooks: AppHooks, event: RecordEventName, write: HookedWrite): Promise<void> {
  const { requestId } = write.actor;
  try {
    const result = await call(hooks, event, write);
    if (result.outcome === 'failed') hooks.log.addFaults(result.faults, requestId);
  } catch (error) {
    blame(hooks, event, { write, error });
  }
}

/** Tells the log of a handler that gave no response. Of several files, nobody knows which one was under way. */
function blame(
  { log, registrations }: AppHooks,
  event: RecordEventName,
  { write: { actor, record: { collection } }, error }: { write: HookedWrite; error: unknown },
): void {
  const reason = error instanceof Error ? error.message : String(error);
  const files =
    registrations?.findFiles(({ hooks }) =>
      hooks.some((hook) => hook.event === event && hook.collection === collection)
    ) ?? [];
  const [file = null, ...others] = files;
  const isKnown = others.length === 0;
  const message = `${event} of ${collection}: ${reason}${isKnown ? '' : `, in one of ${files.join(', ')}`}`;
  log.add({ level: 'error', message, file: isKnown ? file : null, request_id: actor.requestId });
}

async function call(
  hooks: AppHooks,
  event: RecordEventName,
  { actor, record, previous }: HookedWrite,
) {
  const { requestId, depth, deadline, withoutSlot } = actor;
  if (depth >= maxDepth) {
    fail('hook_error', `hooks may cause writes that hooks run for up to ${maxDepth} deep`);
  }
  const { hasPrevious } = hookEvents[event];
  const auth = await actor.auth();
  const message = (id: number): EventInvocation => ({
    type: 'event',
    id,
    event,
    collection: record.collection,
    record: shown(record),
    previous: hasPrevious && previous !== null ? shown(previous) : null,
    auth,
    request_id: requestId,
  });
  const run = () => hooks.run({ requestId, depth, deadline }, message);
  // A write within a hook must not wait for the slot that the hook itself holds.
  if (withoutSlot !== undefined) return await withoutSlot(run);
  const turn = hooks.slots.acquire();
  if (turn !== undefined) await turn;
  try {
    return await run();
  } finally {
    hooks.slots.release();
  }
}

/** Records hold what JSON can say: they came from JSON, or from PostgreSQL. */
function shown(record: StoredRecord): HookRecord {
  return record as HookRecord;
}
