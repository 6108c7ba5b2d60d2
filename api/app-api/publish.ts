// Custom events, which hook code publishes to the subscribers of a collection.
import type { CallTable } from '../../hook-runner/calls.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { shownValue } from '../../storage/app/records/candidate.ts';
import { planFor } from '../../storage/app/records/plan.ts';
import type { Deps } from '../deps.ts';
import { failValidation } from '../errors.ts';
import { exactTopic } from '../realtime/topic.ts';
import { failNoCollection } from '../target.ts';
import { isObject } from '../hooks/rpc/frames.ts';

/** The size of an event's data as JSON, in bytes. */
const maxDataBytes = 65_536;

const namePattern = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/;
/** The events of streams, of WebSockets, and of `EventSource`. */
const reserved = [
  'reset',
  'unauthorized',
  'open',
  'message',
  'error',
  'close',
  'event',
  'ping',
  'pong',
  'subscribed',
];

/** Publishes an event to the subscribers that may see it. Throws `400 validation`, and `404 not_found` without the collection. */
export function publishForHook(
  { realtime }: Pick<Deps, 'realtime'>,
  app: AppDefinition,
  [name, type, data]: CallTable['realtime.publish']['args'],
): null {
  const collection = app.collections.get(name) ?? failNoCollection(name);
  if (!namePattern.test(type)) {
    failValidation([{
      field: 'event',
      reason: 'must be a letter and up to 63 letters, digits or characters of "_.:-"',
    }]);
  }
  const lower = type.toLowerCase();
  if (lower.startsWith('record_') || reserved.includes(lower)) {
    failValidation([{ field: 'event', reason: `"${type}" is a name of the server's own events` }]);
  }
  if (Buffer.byteLength(JSON.stringify(data)) > maxDataBytes) {
    failValidation([{ field: 'data', reason: `must have at most ${maxDataBytes} bytes as JSON` }]);
  }
  const fields = fieldsOf(app, collection, data);
  const id = idOf(data);
  const record = { id: id ?? '', collection: name, fields, created_at: '', updated_at: '' };
  const shown = new Set([...Object.keys(fields), ...(id === undefined ? [] : ['id'])]);
  realtime.publish(exactTopic(app, collection), { type, record, custom: { data, fields: shown } });
  return null;
}

/** Finds the members of the data that are valid values of the collection's fields; rules and filters use them as a record's. */
function fieldsOf(
  app: AppDefinition,
  collection: CollectionDefinition,
  data: unknown,
): Record<string, unknown> {
  if (!isObject(data)) return {};
  const { fields } = planFor(app.schema, collection);
  const found = fields.flatMap(({ field, read }): [string, unknown][] => {
    const { name } = field;
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (value === undefined) return [];
    if (value === null) return [[name, value]];
    const reading = read(value);
    return 'value' in reading ? [[name, shownValue(field, reading.value)]] : [];
  });
  return Object.fromEntries(found);
}

function idOf(data: unknown): string | undefined {
  const id = isObject(data) ? data['id'] : undefined;
  return typeof id === 'string' && isUuid(id) ? id : undefined;
}
