// Runs the handlers of a record event.
import type { HookAuth, HookRecord, Json } from './calls.ts';
import { faultOf, messageOf } from './faults.ts';
import type { Invocation } from './invocations.ts';
import { jsonText } from './json-text.ts';
import type { EventInvocation, InvocationResult } from './protocol.ts';
import type { Fault, RecordEvent } from './registrations.ts';
import type { Handler } from './registry.ts';
import { bare, frozen, has, keysOf, ownMap, stringifyJson } from './untampered.ts';

/** How an invocation ended; as text where values of the author's are in it, which were turned into JSON already. */
export type Result = InvocationResult | string;

/** What a handler is given. */
interface RecordHookEvent {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: string;
  readonly record: HookRecord;
  readonly previous: HookRecord | null;
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

const actions: Readonly<Record<RecordEvent, RecordHookEvent['action']>> = {
  before_create: 'create',
  after_create: 'create',
  before_update: 'update',
  after_update: 'update',
  before_delete: 'delete',
  after_delete: 'delete',
};

const changing: ReadonlySet<RecordEvent> = new Set(['before_create', 'before_update']);
const refused = 'a hook refused the write';

/** Runs all handlers of an event, one after the other. Before-handlers can change the record's fields or refuse. */
export function runRecordEvent(
  frame: EventInvocation,
  handlers: readonly Handler[],
  invocation: Invocation,
): Promise<Result> {
  const event: RecordHookEvent = {
    action: actions[frame.event],
    collection: frame.collection,
    record: frozen(frame.record),
    previous: frame.previous,
    auth: frame.auth,
    requestId: frame.request_id,
  };
  frozen(event);
  return frame.event.startsWith('before_')
    ? runBefore(frame, event, handlers, invocation)
    : runAfter(frame, event, handlers, invocation);
}

async function runBefore(
  { id, event: name, record }: EventInvocation,
  event: RecordHookEvent,
  handlers: readonly Handler[],
  invocation: Invocation,
): Promise<Result> {
  const changes = changing.has(name) ? changesOf(record) : () => '{}';
  for (let index = 0; index < handlers.length && !invocation.ended; index++) {
    const handler = handlers[index];
    if (handler === undefined) break;
    invocation.file = handler.file;
    try {
      if (await handler.run(event) === false) return veto(id, refused, null);
    } catch (thrown) {
      return veto(id, messageOf(thrown) || refused, faultOf(thrown, handler.file));
    }
  }
  try {
    return `{"type":"result","id":${id},"outcome":"done","changes":${changes()}}`;
  } catch (thrown) {
    return failed(id, [faultOf(thrown, invocation.file)]);
  }
}

async function runAfter(
  { id }: EventInvocation,
  event: RecordHookEvent,
  handlers: readonly Handler[],
  invocation: Invocation,
): Promise<Result> {
  const faults: Fault[] = [];
  for (let index = 0; index < handlers.length && !invocation.ended; index++) {
    const handler = handlers[index];
    if (handler === undefined) break;
    invocation.file = handler.file;
    try {
      await handler.run(event);
    } catch (thrown) {
      faults[faults.length] = faultOf(thrown, handler.file);
    }
  }
  return faults.length === 0 ? done(id) : failed(id, faults);
}

/** The result of what went well and changed nothing. */
export function done(id: number): Result {
  return `{"type":"result","id":${id},"outcome":"done","changes":{}}`;
}

/** The result of handlers that threw. */
export function failed(id: number, faults: readonly Fault[]): Result {
  return { type: 'result', id, outcome: 'failed', faults: bare([...faults]) };
}

function veto(id: number, message: string, fault: Fault | null): Result {
  return { type: 'result', id, outcome: 'veto', message, fault };
}

/**
 * Remembers the fields of a record. The returned function gives those that are others by then, as JSON; a field that
 * was removed or set to undefined is null.
 */
function changesOf(record: HookRecord): () => string {
  const { fields } = record;
  const values = ownMap<string, Json>();
  const texts = ownMap<string, string | undefined>();
  for (const name of keysOf(fields)) {
    const value = fields[name] ?? null;
    values.set(name, value);
    if (typeof value === 'object' && value !== null) texts.set(name, stringifyJson(value));
  }
  return () => {
    let changes = '';
    const add = (name: string, text: string) => {
      changes += `${changes === '' ? '' : ','}${stringifyJson(name)}:${text}`;
    };
    for (const name of keysOf(fields)) {
      const value = fields[name];
      if (values.has(name) && values.get(name) === (value ?? null) && !texts.has(name)) continue;
      const before = texts.get(name);
      const text = value === undefined ? 'null' : jsonText(value, `record.fields.${name}`, { known: before });
      if (!values.has(name) || before !== text) add(name, text);
    }
    values.forEach((_value, name) => {
      if (!has(fields, name)) add(name, 'null');
    });
    return `{${changes}}`;
  };
}
