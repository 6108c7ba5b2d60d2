// Runs the handlers of an event.
import type { HookAuth, HookRecord, Json } from './calls.ts';
import { type EventNameOf, type EventPayloads, hookEvents } from './events.ts';
import { describeThrown, thrownMessage } from './faults.ts';
import { refusedField } from './field-error.ts';
import type { InvocationContext } from './invocations.ts';
import { serializeJson } from './json-text.ts';
import type { EventInvocation, InvocationResult } from './protocol.ts';
import type { Fault } from './registrations.ts';
import type { Handler } from './registry.ts';
import { freezeObject, hasOwnMember, objectKeys, stringifyJson, withoutPrototype } from './untampered.ts';

/** The result frame of an invocation; as JSON where it contains values of the author's, which were serialized already. */
export type InvocationOutcome = InvocationResult | string;

/** The argument of a record event's handler. */
interface RecordHookEvent {
  readonly action: (typeof hookEvents)[EventNameOf<'record'>]['action'];
  readonly collection: string;
  readonly record: HookRecord;
  readonly previous: HookRecord | null;
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

/** The argument of a handler about a user. */
interface UserHookEvent {
  readonly action: (typeof hookEvents)[EventNameOf<'user'>]['action'];
  readonly user: EventPayloads['user']['user'];
  readonly method: EventPayloads['user']['method'];
  readonly profile: HookRecord | null;
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

type HookEvent = RecordHookEvent | UserHookEvent;

const defaultVetoMessage = 'a hook refused the write';

/** Runs all handlers of an event, one after the other. Before-handlers can change the record's fields or refuse. */
export function runEvent(
  frame: EventInvocation,
  handlers: readonly Handler[],
  invocation: InvocationContext,
): Promise<InvocationOutcome> {
  const event = freezeObject(toEvent(frame));
  return hookEvents[frame.event].when === 'before'
    ? runBefore(frame, event, handlers, invocation)
    : runAfter(frame, event, handlers, invocation);
}

function toEvent(frame: EventInvocation): HookEvent {
  const { record, auth, request_id: requestId } = frame;
  if (record !== null) freezeObject(record);
  if ('collection' in frame) {
    const { collection, previous } = frame;
    return {
      action: hookEvents[frame.event].action,
      collection,
      record: frame.record,
      previous,
      auth,
      requestId,
    };
  }
  const user = freezeObject(frame.user);
  return {
    action: hookEvents[frame.event].action,
    user,
    method: frame.method,
    profile: record,
    auth,
    requestId,
  };
}

async function runBefore(
  { id, event: name, record }: EventInvocation,
  event: HookEvent,
  handlers: readonly Handler[],
  invocation: InvocationContext,
): Promise<InvocationOutcome> {
  const changes = hookEvents[name].canChange && record !== null ? trackChanges(record) : () => '{}';
  for (let index = 0; index < handlers.length && !invocation.ended; index++) {
    const handler = handlers[index];
    if (handler === undefined) break;
    invocation.file = handler.file;
    try {
      if (await handler.run(event) === false) {
        return { type: 'result', id, outcome: 'veto', message: defaultVetoMessage, fault: null };
      }
    } catch (thrown) {
      return vetoResult(id, thrown, handler);
    }
  }
  try {
    return `{"type":"result","id":${id},"outcome":"done","changes":${changes()}}`;
  } catch (thrown) {
    // Of several handlers, it is unknown which one assigned the value that cannot be serialized.
    const only = handlers.length === 1 ? handlers[0] : undefined;
    return failedResult(id, [describeThrown(thrown, only ?? invocation.file)]);
  }
}

async function runAfter(
  { id }: EventInvocation,
  event: HookEvent,
  handlers: readonly Handler[],
  invocation: InvocationContext,
): Promise<InvocationOutcome> {
  const faults: Fault[] = [];
  for (let index = 0; index < handlers.length && !invocation.ended; index++) {
    const handler = handlers[index];
    if (handler === undefined) break;
    invocation.file = handler.file;
    try {
      await handler.run(event);
    } catch (thrown) {
      faults[faults.length] = describeThrown(thrown, handler);
    }
  }
  return faults.length === 0 ? doneResult(id) : failedResult(id, faults);
}

/** The result of an invocation that succeeded and changed nothing. */
export function doneResult(id: number): InvocationOutcome {
  return `{"type":"result","id":${id},"outcome":"done","changes":{}}`;
}

/** The result of an invocation whose handlers threw. */
export function failedResult(id: number, faults: readonly Fault[]): InvocationOutcome {
  return { type: 'result', id, outcome: 'failed', faults: withoutPrototype([...faults]) };
}

/** The result of an invocation whose handler threw. */
function vetoResult(id: number, thrown: unknown, handler: Handler): InvocationOutcome {
  const fault = describeThrown(thrown, handler);
  const message = thrownMessage(thrown) || defaultVetoMessage;
  try {
    return { type: 'result', id, outcome: 'veto', message, fault, field: refusedField(thrown) };
  } catch (wrong) {
    return failedResult(id, [withoutPrototype({ ...fault, message: thrownMessage(wrong) })]);
  }
}

/** The original value of a field. Objects and arrays can be modified in place, so their JSON is kept instead. */
type OriginalValue = Exclude<Json, object> | { readonly text: string | undefined };

/**
 * Records the fields of a record. The returned function serializes those that have changed since; a field that was removed
 * or set to undefined is null.
 */
function trackChanges({ fields }: HookRecord): () => string {
  const names = objectKeys(fields);
  // Arrays and indexes instead of a map, as this runs without JIT. An array of `objectKeys` has elements of its own, so no
  // setter of a tampered prototype is called by an assignment.
  const before: OriginalValue[] = objectKeys(fields);
  for (let index = 0; index < names.length; index++) {
    const value = fields[names[index] ?? ''] ?? null;
    before[index] = typeof value === 'object' && value !== null ? { text: stringifyJson(value) } : value;
  }
  return () => {
    const now = objectKeys(fields);
    let changes = '';
    let kept = 0;
    const add = (name: string, text: string) => {
      changes += `${changes === '' ? '' : ','}${stringifyJson(name)}:${text}`;
    };
    for (let index = 0; index < now.length; index++) {
      const name = now[index] ?? '';
      const original = indexOfName(name, names, index);
      if (original !== -1) kept++;
      const text = changedText(fields[name], before[original], name);
      if (text !== null) add(name, text);
    }
    if (kept === names.length) return `{${changes}}`;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] ?? '';
      if (!hasOwnMember(fields, name)) add(name, 'null');
    }
    return `{${changes}}`;
  };
}

/** The index of a name, which is most likely `guess`; -1 when it is missing. */
function indexOfName(name: string, names: readonly string[], guess: number): number {
  if (names[guess] === name) return guess;
  for (let index = 0; index < names.length; index++) if (names[index] === name) return index;
  return -1;
}

/** The JSON of a field that has changed; null for an unchanged one. `before` is undefined for a new field. */
function changedText(
  value: Json | undefined,
  before: OriginalValue | undefined,
  name: string,
): string | null {
  const known = typeof before === 'object' && before !== null ? before.text : undefined;
  if (known === undefined && before === (value ?? null)) return null;
  const text = value === undefined ? 'null' : serializeJson(value, `record.fields.${name}`, { known });
  return text === known ? null : text;
}
