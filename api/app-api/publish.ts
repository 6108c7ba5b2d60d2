// Events that hook code makes up, for those who watch a collection.
import type { CallTable } from '../../hook-runner/calls.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { shownValue } from '../../storage/app/records/candidate.ts';
import { planFor } from '../../storage/app/records/plan.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { exactTopic } from '../realtime/topic.ts';
import { failNoCollection } from '../target.ts';
import { isObject } from '../hooks/rpc/frames.ts';

/** Most bytes of an event's data, as JSON. */
const largestEventData = 65_536;

const namePattern = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/;
/** The stream's own, those of the WebSocket, and those that an EventSource has for itself. */
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

/** Tells those who may see it. Throws `404 not_found` for a collection that is not there, and `400 validation`. */
export function publishForHook(
  { realtime }: Pick<Deps, 'realtime'>,
  app: AppDefinition,
  [name, type, data]: CallTable['realtime.publish']['args'],
): null {
  const collection = app.collections.get(name) ?? failNoCollection(name);
  if (!namePattern.test(type)) {
    fail('validation', 'event: must be a letter and up to 63 letters, digits or characters of "_.:-"');
  }
  const small = type.toLowerCase();
  if (small.startsWith('record_') || reserved.includes(small)) {
    fail('validation', `event: "${type}" is a name of the server's own events`);
  }
  if (Buffer.byteLength(JSON.stringify(data)) > largestEventData) {
    fail('validation', `data: must have at most ${largestEventData} bytes as JSON`);
  }
  const fields = fieldsIn(app, collection, data);
  const id = idIn(data);
  const record = { id: id ?? '', collection: name, fields, created_at: '', updated_at: '' };
  const shows = new Set([...Object.keys(fields), ...(id === undefined ? [] : ['id'])]);
  realtime.publish(exactTopic(app, collection), { type, record, custom: { data, fields: shows } });
  return null;
}

/** The members of the data that could be values of the collection's fields, as in a record: what rules and filters go by. */
function fieldsIn(
  app: AppDefinition,
  collection: CollectionDefinition,
  data: unknown,
): Record<string, unknown> {
  if (!isObject(data)) return {};
  const { fields } = planFor(app.schema, collection);
  const found = fields.flatMap(({ field: { name, kind }, read }): [string, unknown][] => {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (value === undefined) return [];
    if (value === null) return [[name, value]];
    const reading = read(value);
    return 'value' in reading ? [[name, shownValue(kind, reading.value)]] : [];
  });
  return Object.fromEntries(found);
}

function idIn(data: unknown): string | undefined {
  const id = isObject(data) ? data['id'] : undefined;
  return typeof id === 'string' && isUuid(id) ? id : undefined;
}
