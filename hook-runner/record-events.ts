// Runs the handlers of a record event.
import type { HookAuth, HookRecord, Json } from './calls.ts';
import { type EventNameOf, hookEvents } from './events.ts';
import { describeThrown, thrownMessage } from './faults.ts';
import type { InvocationContext } from './invocations.ts';
import { serializeJson } from './json-text.ts';
import type { EventInvocation, InvocationResult } from './protocol.ts';
import type { Fault } from './registrations.ts';
import type { Handler } from './registry.ts';
import { freezeObject, hasOwnMember, objectKeys, stringifyJson, withoutPrototype } from './untampered.ts';

/** How an invocation ended; as text where values of the author's are in it, which were turned into JSON already. */
export type InvocationOutcome = InvocationResult | string;

/** What a handler is given. */
interface RecordHookEvent {
  readonly action: (typeof hookEvents)[EventNameOf<'record'>]['action'];
  readonly collection: string;
  readonly record: HookRecord;
  readonly previous: HookRecord | null;
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

const defaultVetoMessage = 'a hook refused the write';

/** Runs all handlers of an event, one after the other. Before-handlers can change the record's fields or refuse. */
export function runRecordEvent(
  frame: EventInvocation,
  handlers: readonly Handler[],
  invocation: InvocationContext,
): Promise<InvocationOutcome> {
  const { action, when } = hookEvents[frame.event];
  const event: RecordHookEvent = {
    action,
    collection: frame.collection,
    record: freezeObject(frame.record),
    previous: frame.previous,
    auth: frame.auth,
    requestId: frame.request_id,
  };
  freezeObject(event);
  return when === 'before'
    ? runBefore(frame, event, handlers, invocation)
    : runAfter(frame, event, handlers, invocation);
}

async function runBefore(
  { id, event: name, record }: EventInvocation,
  event: RecordHookEvent,
  handlers: readonly Handler[],
  invocation: InvocationContext,
): Promise<InvocationOutcome> {
  const changes = hookEvents[name].canChange ? trackChanges(record) : () => '{}';
  for (let index = 0; index < handlers.length && !invocation.ended; index++) {
    const handler = handlers[index];
    if (handler === undefined) break;
    invocation.file = handler.file;
    try {
      if (await handler.run(event) === false) return vetoResult(id, defaultVetoMessage, null);
    } catch (thrown) {
      return vetoResult(id, thrownMessage(thrown) || defaultVetoMessage, describeThrown(thrown, handler));
    }
  }
  try {
    return `{"type":"result","id":${id},"outcome":"done","changes":${changes()}}`;
  } catch (thrown) {
    // Of several, which one put there what cannot be written nobody knows.
    const only = handlers.length === 1 ? handlers[0] : undefined;
    return failedResult(id, [describeThrown(thrown, only ?? invocation.file)]);
  }
}

async function runAfter(
  { id }: EventInvocation,
  event: RecordHookEvent,
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

/** The result of what went well and changed nothing. */
export function doneResult(id: number): InvocationOutcome {
  return `{"type":"result","id":${id},"outcome":"done","changes":{}}`;
}

/** The result of handlers that threw. */
export function failedResult(id: number, faults: readonly Fault[]): InvocationOutcome {
  return { type: 'result', id, outcome: 'failed', faults: withoutPrototype([...faults]) };
}

function vetoResult(id: number, message: string, fault: Fault | null): InvocationOutcome {
  return { type: 'result', id, outcome: 'veto', message, fault };
}

/** A field as it was: what holds other values may be changed inside, so its JSON is kept. */
type OriginalValue = Exclude<Json, object> | { readonly text: string | undefined };

/**
 * Remembers the fields of a record. The returned function gives those that are others by then, as JSON; a field that
 * was removed or set to undefined is null.
 */
function trackChanges({ fields }: HookRecord): () => string {
  const names = objectKeys(fields);
  // No map, and each taken over by its place: this runs without machine code. The members of `keysOf` are its own, so that
  // no setter of a prototype meets what is put there.
  const before: OriginalValue[] = objectKeys(fields);
  for (let place = 0; place < names.length; place++) {
    const value = fields[names[place] ?? ''] ?? null;
    before[place] = typeof value === 'object' && value !== null ? { text: stringifyJson(value) } : value;
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
      const place = indexOfName(name, names, index);
      if (place !== -1) kept++;
      const text = changedText(fields[name], before[place], name);
      if (text !== null) add(name, text);
    }
    if (kept === names.length) return `{${changes}}`;
    for (let place = 0; place < names.length; place++) {
      const name = names[place] ?? '';
      if (!hasOwnMember(fields, name)) add(name, 'null');
    }
    return `{${changes}}`;
  };
}

/** Where a name stands, most likely at `guess`; -1 for one that is not there. */
function indexOfName(name: string, names: readonly string[], guess: number): number {
  if (names[guess] === name) return guess;
  for (let place = 0; place < names.length; place++) if (names[place] === name) return place;
  return -1;
}

/** The JSON of a field that is not as it was (undefined: was not there), else null. */
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
