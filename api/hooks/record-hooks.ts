// Record hooks as writes of records call them: asked before a write, told after it.
import type { EventInvocation } from '../../hook-runner/protocol.ts';
import type { HookRecord } from '../../hook-runner/calls.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { ApiError, fail } from '../errors.ts';
import type { AppHooks } from './app-hooks.ts';
import type { AppWriteHooks, HookedWrite, WriteAction, WriteHooks } from './ports.ts';
import { type Concern, eventOf, type Registrations } from './registrations.ts';

const deepest = 4;

/** The record hooks of an app that are registered. */
export function writeHooksOf(hooks: AppHooks, registrations: Registrations): AppWriteHooks {
  return {
    isEmpty: registrations.files.length === 0,
    on(collection, action) {
      const concern = registrations.of(collection, action);
      return concern === undefined ? undefined : wrap(hooks, action, concern);
    },
  };
}

function wrap(hooks: AppHooks, action: WriteAction, { before, after }: Concern): WriteHooks {
  return {
    before,
    after,
    ask: (write) => ask(hooks, action, write),
    tell: (write) => tell(hooks, action, write),
  };
}

async function ask(
  hooks: AppHooks,
  action: WriteAction,
  write: HookedWrite,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { requestId } = write.actor;
  const result = await call(hooks, 'before', action, write).catch((error: unknown) => {
    // What an overload does not even begin is no fault of the code, and would flood its log.
    if (error instanceof ApiError && error.code === 'hook_error') {
      blame(hooks, 'before', action, { write, error });
    }
    throw error;
  });
  switch (result.outcome) {
    case 'done':
      return Object.keys(result.changes).length === 0 ? undefined : result.changes;
    case 'veto':
      if (result.fault !== null) hooks.log.blame([result.fault], requestId);
      return fail('hook_veto', result.message);
    case 'failed': {
      hooks.log.blame(result.faults, requestId);
      const [first] = result.faults;
      return fail('hook_error', first?.message ?? 'the hook failed');
    }
    case 'http_error':
      return fail('hook_error', 'the hook answered as a route');
  }
}

async function tell(hooks: AppHooks, action: WriteAction, write: HookedWrite): Promise<void> {
  const { requestId } = write.actor;
  try {
    const result = await call(hooks, 'after', action, write);
    if (result.outcome === 'failed') hooks.log.blame(result.faults, requestId);
  } catch (error) {
    blame(hooks, 'after', action, { write, error });
  }
}

/** Tells the log of a handler that gave no answer. In which file it is nobody knows. */
function blame(
  { log }: AppHooks,
  when: 'before' | 'after',
  action: WriteAction,
  { write: { actor, record }, error }: { write: HookedWrite; error: unknown },
): void {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${eventOf(when, action)} of ${record.collection}: ${reason}`;
  log.add({ level: 'error', message, request_id: actor.requestId });
}

async function call(
  hooks: AppHooks,
  when: 'before' | 'after',
  action: WriteAction,
  { actor, record, previous }: HookedWrite,
) {
  const { requestId, depth, deadline, aside } = actor;
  if (depth >= deepest) fail('hook_error', `hooks may cause writes that hooks run for up to ${deepest} deep`);
  const auth = await actor.auth();
  const message = (id: number): EventInvocation => ({
    type: 'event',
    id,
    event: eventOf(when, action),
    collection: record.collection,
    record: shown(record),
    previous: previous === null ? null : shown(previous),
    auth,
    request_id: requestId,
  });
  const run = () => hooks.run({ requestId, depth, deadline }, message);
  // What a hook waits for must not wait for the turn that the hook itself has.
  if (aside !== undefined) return await aside(run);
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
