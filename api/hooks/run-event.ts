// Runs the handlers of an event: asked before what they may veto, told after it.
import type { HookAuth } from '../../hook-runner/calls.ts';
import type { HookEventName } from '../../hook-runner/events.ts';
import type { EventInvocation, InvocationResult } from '../../hook-runner/protocol.ts';
import { ApiError, fail, fieldsError } from '../errors.ts';
import type { AppHooks } from './app-hooks.ts';
import type { Actor } from './ports.ts';

const maxDepth = 4;

/** An event that happens, or is to happen. */
export interface HookEvent {
  name: HookEventName;
  /** The collection of a record event; null for another one. */
  collection: string | null;
  actor: Actor;
  /** The frame for the runner. */
  write(id: number, auth: HookAuth | null): EventInvocation;
}

/** Throws `500 hook_error`: a file that does not load has a say in it. */
export async function refuseBroken(hooks: AppHooks): Promise<never> {
  hooks.retryBroken();
  return fail('hook_error', 'the hook file that handles this does not load; the log of the hooks says why');
}

/** Runs before-handlers, and returns what they have changed. Throws what `WriteHooks.runBefore` throws. */
export async function runBeforeEvent(
  hooks: AppHooks,
  event: HookEvent,
): Promise<Readonly<Record<string, unknown>>> {
  const { requestId } = event.actor;
  const result = await call(hooks, event).catch((error: unknown) => {
    // A call that an overload refuses is no fault of the code, and would flood its log.
    if (error instanceof ApiError && error.code === 'hook_error') blame(hooks, event, error);
    throw error;
  });
  switch (result.outcome) {
    case 'done':
      return result.changes;
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

/** Runs after-handlers. Never throws: the log has what is wrong with them. */
export async function runAfterEvent(hooks: AppHooks, event: HookEvent): Promise<void> {
  try {
    const result = await call(hooks, event);
    if (result.outcome === 'failed') hooks.log.addFaults(result.faults, event.actor.requestId);
  } catch (error) {
    blame(hooks, event, error);
  }
}

function vetoError({ message, field }: Extract<InvocationResult, { outcome: 'veto' }>): ApiError {
  if (field === undefined) return new ApiError('hook_veto', message);
  return fieldsError('hook_veto', [{ field: field.path, reason: message, code: field.code }]);
}

/** Tells the log of a handler that gave no response. Of several files, nobody knows which one was under way. */
function blame(
  { log, registrations }: AppHooks,
  { name, collection, actor }: HookEvent,
  error: unknown,
): void {
  const reason = error instanceof Error ? error.message : String(error);
  const files =
    registrations?.findFiles(({ hooks }) =>
      hooks.some((hook) => hook.event === name && hook.collection === collection)
    ) ?? [];
  const [file = null, ...others] = files;
  const isKnown = others.length === 0;
  const what = collection === null ? name : `${name} of ${collection}`;
  const message = `${what}: ${reason}${isKnown ? '' : `, in one of ${files.join(', ')}`}`;
  log.add({ level: 'error', message, file: isKnown ? file : null, request_id: actor.requestId });
}

async function call(hooks: AppHooks, { actor, write }: HookEvent) {
  const { requestId, depth, deadline, withoutSlot } = actor;
  if (depth >= maxDepth) {
    fail('hook_error', `hooks may cause writes that hooks run for up to ${maxDepth} deep`);
  }
  const auth = await actor.auth();
  const run = () => hooks.run({ requestId, depth, deadline }, (id) => write(id, auth));
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
