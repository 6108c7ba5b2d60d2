// Checks the arguments of `$app` calls before they are sent. The API kills a runner that sends malformed arguments, which an
// author's mistake should not cause.
import type { ActingAs, CallTable } from './calls.ts';
import { describeUnserializable } from './json-text.ts';

/** Describes what is wrong with a value; undefined when it is valid. */
type Check = (value: unknown) => string | undefined;

const isText: Check = (value) => typeof value === 'string' ? undefined : 'must be a text';
const isAnything: Check = () => undefined;
const isObject: Check = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'must be an object';
const isBoolean: Check = (value) => typeof value === 'boolean' ? undefined : 'must be true or false';
const isNumber: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number';

const isFields: Check = (value) => {
  const fault = isObject(value);
  if (fault !== undefined) return fault;
  // An object with a `toJSON` is checked again after it was serialized.
  if (!isPlainData(value)) return undefined;
  for (const [name, field] of Object.entries(value as object)) {
    const unsaid = field === undefined ? undefined : describeUnserializable(field);
    if (unsaid !== undefined) return `: ${name} is ${unsaid}, which JSON cannot say`;
  }
  return undefined;
};

/** Checks that a value is an object with these members and no others. */
function objectWith(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): Check {
  return (value) => {
    const fault = isObject(value);
    if (fault !== undefined) return fault;
    const members = value as Readonly<Record<string, unknown>>;
    for (const [name, check] of Object.entries({ ...required, ...optional })) {
      if (members[name] === undefined && Object.hasOwn(optional, name)) continue;
      const wrong = check(members[name]);
      if (wrong !== undefined) return `: ${name} ${wrong}`;
    }
    const names = [...Object.keys(required), ...Object.keys(optional)];
    const stray = Object.keys(members).find((name) => members[name] !== undefined && !names.includes(name));
    return stray === undefined ? undefined : `: ${stray} is none of ${names.join(', ')}`;
  };
}

/** Checks that a value is an array of values that pass a check. */
function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'must be an array';
    const faults = value.map(check);
    const index = faults.findIndex((fault) => fault !== undefined);
    return index === -1 ? undefined : `: number ${index}${joined(faults[index])}`;
  };
}

function joined(fault = ''): string {
  return `${fault.startsWith(':') ? '' : ' '}${fault}`;
}

const checks: Readonly<Record<keyof CallTable, readonly (readonly [name: string, check: Check])[]>> = {
  'records.findOne': [['the collection', isText], ['the id', isText]],
  'records.list': [['the collection', isText], [
    'the query',
    objectWith({}, {
      filter: isText,
      search: isText,
      sort: isText,
      page: isNumber,
      per_page: isNumber,
      cursor: isText,
      expand: isText,
      fields: isText,
      skip_total: isBoolean,
    }),
  ]],
  'records.count': [['the collection', isText], ['the query', objectWith({}, { filter: isText })]],
  'records.aggregate': [['the collection', isText], [
    'the query',
    objectWith({ fn: isText }, { group: isText, filter: isText }),
  ]],
  'records.create': [
    ['the collection', isText],
    ['the fields', isFields],
    ['the options', objectWith({}, { on_conflict: isText })],
  ],
  'records.update': [['the collection', isText], ['the id', isText], ['the fields', isFields]],
  'records.delete': [['the collection', isText], ['the id', isText]],
  'batch': [[
    'the requests',
    listOf(
      objectWith({ method: isText, collection: isText }, { id: isText, on_conflict: isText, body: isFields }),
    ),
  ]],
  'users.findOne': [['the id', isText]],
  'users.findByEmail': [['the email', isText]],
  'users.create': [['the user', objectWith({ email: isText }, { password: isText })]],
  'users.update': [
    ['the id', isText],
    ['the changes', objectWith({}, { email: isText, password: isText, verified: isBoolean })],
  ],
  'users.delete': [['the id', isText]],
  'files.get': [['the id', isText]],
  'files.create': [['the file', objectWith({ filename: isText, mime: isText, body: isAnything })]],
  'files.delete': [['the id', isText]],
  'mail.send': [['the mail', objectWith({ to: isText, subject: isText, text: isText }, { html: isText })]],
  'realtime.publish': [['the collection', isText], ['the event', isText], ['the data', isAnything]],
  'fetch': [],
};

/** Checks the arguments of a call. Throws `TypeError`. */
export function checkArguments(method: keyof CallTable, args: readonly unknown[]): void {
  for (const [index, [name, check]] of checks[method].entries()) {
    const wrong = check(args[index]);
    if (wrong !== undefined) {
      throw new TypeError(`${method}: ${name}${joined(wrong)}`);
    }
  }
}

/**
 * Reads the argument of `$app.as`. Throws `TypeError` for anything but an `e.auth`: a caller that is undefined by mistake must
 * be neither an admin nor one without a token.
 */
export function readActingAs(auth: unknown): ActingAs {
  if (auth === null) return null;
  const wrong = isObject(auth);
  const { id, role, app = null }: Partial<Record<string, unknown>> = wrong === undefined
    ? { ...auth as object }
    : {};
  if (typeof id !== 'string' || typeof role !== 'string') {
    throw new TypeError('$app.as: the caller must be e.auth: an object with id and role, or null');
  }
  if (app !== null && typeof app !== 'string') throw new TypeError('$app.as: app must be a text or null');
  return { id, role, app };
}

/**
 * True when the JSON of an argument has the members that a check sees. Other values may differ: a date becomes a text, and
 * members of a prototype are left out.
 */
export function isPlainData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === null || prototype === Object.prototype) &&
    typeof Reflect.get(value, 'toJSON') !== 'function';
}
