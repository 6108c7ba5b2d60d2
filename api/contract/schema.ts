// Builders of schemas, which validate (superstruct) and describe themselves (JSON Schema for OpenAPI). Nothing else imports
// superstruct, because its structs do not expose their refinements.
import * as superstruct from 'superstruct';
import { hasCharacters, textFault } from '../../storage/sql/characters.ts';
import { reasons } from '../errors.ts';
import { type JsonSchema, orNull } from './json-schema.ts';

/** A validator and its description. */
export interface Schema<out Value> {
  readonly struct: superstruct.Struct<unknown, unknown>;
  readonly json: JsonSchema;
  /** True for a member that may be left out. */
  readonly isOptional: boolean;
  /** Recognizes a good value without searching for errors; not every schema can. */
  readonly accepts?: (value: unknown) => boolean;
  /** Never set. Carries the type of the admitted values, because structs are invariant. */
  readonly admits?: Value;
}

/** The type of the values that a schema admits. */
export type ValueOf<S> = S extends Schema<infer Value> ? Value : never;

function schema<Value>(
  json: JsonSchema,
  check: (value: unknown) => true | string,
): Schema<Value> {
  const struct = superstruct.define<unknown>(
    'value',
    (value) => value === undefined ? reasons.required : check(value),
  );
  const accepts = (value: unknown) => value !== undefined && check(value) === true;
  return { struct, json, isOptional: false, accepts };
}

interface TextLimits {
  min?: number;
  max?: number;
  pattern?: RegExp;
  hint?: string;
  format?: string;
  /** The reason why a text of the pattern is refused. */
  faultOf?: (text: string) => string | undefined;
}

/** Text of `min` to `max` characters (code points), optionally of a pattern; `hint` is the message when it does not match. */
export function string({ min, max, pattern, hint, format, faultOf }: TextLimits = {}): Schema<string> {
  const json: JsonSchema = { type: 'string' };
  if (min !== undefined) json.minLength = min;
  if (max !== undefined) json.maxLength = max;
  if (pattern !== undefined) json.pattern = pattern.source;
  if (format !== undefined) json.format = format;
  return schema(json, (value) => {
    if (typeof value !== 'string') return 'must be a string';
    const fault = textFault(value);
    if (fault !== undefined) return fault;
    if (min !== undefined && !hasCharacters(value, min)) {
      return min === 1 ? 'must not be empty' : `must have at least ${min} characters`;
    }
    if (max !== undefined && hasCharacters(value, max + 1)) {
      return `must have at most ${max} characters`;
    }
    if (pattern !== undefined && !pattern.test(value)) return hint ?? `must match ${pattern.source}`;
    return faultOf?.(value) ?? true;
  });
}

/** One of the given words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Schema<Word> {
  return schema(
    { type: 'string', enum: words },
    (value) => words.some((word) => word === value) || `must be one of ${words.join(', ')}`,
  );
}

/** `true` or `false`. */
export function boolean(): Schema<boolean> {
  return schema({ type: 'boolean' }, (value) => typeof value === 'boolean' || 'must be true or false');
}

/** Exactly `true`, as in `{ ok: true }`. */
export function yes(): Schema<true> {
  return schema({ type: 'boolean', const: true }, (value) => value === true || 'must be true');
}

/** A whole number within bounds. */
export function integer({ min, max }: { min?: number; max?: number } = {}): Schema<number> {
  const json: JsonSchema = { type: 'integer' };
  if (min !== undefined) json.minimum = min;
  if (max !== undefined) json.maximum = max;
  return schema(json, (value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'must be a whole number';
    if (min !== undefined && value < min) return `must be at least ${min}`;
    if (max !== undefined && value > max) return `must be at most ${max}`;
    return true;
  });
}

/** A finite number. */
export function finiteNumber(): Schema<number> {
  return schema({ type: 'number' }, (value) => Number.isFinite(value) || 'must be a number');
}

/** Any JSON value; it must not be missing. */
export function anyValue(): Schema<unknown> {
  return schema({}, () => true);
}

/** An RFC 3339 timestamp in a response, whose value is a `Date` until it is rendered. */
export function timestamp(): Schema<Date> {
  const json: JsonSchema = { type: 'string', format: 'date-time' };
  return schema(json, (value) => value instanceof Date || 'must be a date');
}

/** A list of at most `max` items. */
export function array<Item>(item: Schema<Item>, { max }: { max?: number } = {}): Schema<Item[]> {
  const json: JsonSchema = { type: 'array', items: item.json };
  if (max !== undefined) json.maxItems = max;
  const struct = withMessages(superstruct.array(item.struct), (value) => {
    if (!Array.isArray(value)) return 'must be an array';
    return max === undefined || value.length <= max || `must have at most ${max} items`;
  });
  return { struct, json, isOptional: false };
}

type Members = Record<string, Schema<unknown>>;
type OptionalNames<M extends Members> = {
  [K in keyof M]: undefined extends ValueOf<M[K]> ? K : never;
}[keyof M];
/** The type of objects with these members. */
export type ObjectValue<M extends Members> =
  & { [K in Exclude<keyof M, OptionalNames<M>>]: ValueOf<M[K]> }
  & { [K in OptionalNames<M>]?: ValueOf<M[K]> };

/** An object with these members and no others. */
export function object<M extends Members>(members: M): Schema<ObjectValue<M>> {
  const names = Object.keys(members);
  const json: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, members[name]?.json ?? {}])),
    required: names.filter((name) => members[name]?.isOptional === false),
    additionalProperties: false,
  };
  const structs = Object.fromEntries(
    names.map((name) => [name, members[name]?.struct ?? superstruct.unknown()]),
  );
  const struct = withMessages(superstruct.object(structs), isObject);
  return { struct, json, isOptional: false };
}

/** An object of any members, such as the fields of a record. */
export function fieldMap(description: string): Schema<Record<string, unknown>> {
  return schema({ type: 'object', description, additionalProperties: true }, isObject);
}

/** A member that may be left out. */
export function optional<Value>(inner: Schema<Value>): Schema<Value | undefined> {
  return { struct: superstruct.optional(inner.struct), json: inner.json, isOptional: true };
}

/** A value or null. */
export function nullable<Value>(inner: Schema<Value>): Schema<Value | null> {
  return {
    struct: superstruct.nullable(inner.struct),
    json: orNull(inner.json),
    isOptional: inner.isOptional,
  };
}

/** Adds a sentence for the API description. */
export function described<Value>(inner: Schema<Value>, description: string): Schema<Value> {
  return { ...inner, json: { ...inner.json, description } };
}

/** Either of two schemas. Only for responses: the errors of input would be unclear. */
export function anyOf<A, B>(a: Schema<A>, b: Schema<B>): Schema<A | B> {
  const struct = superstruct.define<unknown>('either', (value) => a.struct.is(value) || b.struct.is(value));
  return { struct, json: { anyOf: [a.json, b.json] }, isOptional: false };
}

/** `true`, `false`, or an object that says more. */
export function flagOr<Value>(inner: Schema<Value>): Schema<Value | boolean> {
  const flag = boolean();
  const struct = superstruct.dynamic<unknown>((value) =>
    typeof value === 'object' ? inner.struct : flag.struct
  );
  return { struct, json: { anyOf: [flag.json, inner.json] }, isOptional: false };
}

/** One of several schemas of objects. The text of the member `tag`, which each of them has, says which. */
export function variants<const M extends Record<string, Schema<unknown>>>(
  tag: string,
  shapes: M,
): Schema<ValueOf<M[keyof M]>> {
  const known = Object.keys(shapes);
  const neither = superstruct.type({ [tag]: oneOf(known).struct });
  const shapeOf = (value: unknown) => {
    const word = typeof value === 'object' && value !== null ? Reflect.get(value, tag) : undefined;
    const shape = typeof word === 'string' && Object.hasOwn(shapes, word) ? shapes[word] : undefined;
    return shape?.struct ?? withMessages(neither, isObject);
  };
  const struct = superstruct.dynamic<unknown>(shapeOf);
  return { struct, json: { anyOf: Object.values(shapes).map(({ json }) => json) }, isOptional: false };
}

/** The members of a page of a list. */
export function pageMembers<Item>(item: Schema<Item>) {
  return {
    items: array(item),
    page: integer({ min: 1 }),
    per_page: integer({ min: 1, max: 200 }),
    total_items: described(integer({ min: -1 }), '-1 when `skip_total=true`'),
    total_pages: described(integer({ min: -1 }), '-1 when `skip_total=true`'),
  };
}

/** A page of a list. */
export function pageSchema<Item>(item: Schema<Item>) {
  return object(pageMembers(item));
}

/** The response of a route that has nothing to show. */
export const okResponse = object({ ok: yes() });

const unknownField = superstruct.define<unknown>('unknown', () => reasons.unknown);

function isObject(value: unknown): true | string {
  return typeof value === 'object' && value !== null && !Array.isArray(value) || 'must be an object';
}

/**
 * Replaces a struct's messages for a missing value, a value of another type, and unknown members. The library's own messages
 * quote the value, which fails for some JSON: `{"toString": 1}`.
 */
function withMessages<Value, S>(
  { entries, type }: superstruct.Struct<Value, S>,
  check: (value: unknown) => true | string,
): superstruct.Struct<unknown, unknown> {
  return new superstruct.Struct<unknown, unknown>({
    type,
    schema: null,
    *entries(value, context) {
      if (check(value) !== true) return;
      for (const [name, part, struct] of entries(value, context)) {
        yield [name, part, struct.type === 'never' ? unknownField : struct];
      }
    },
    validator: (value) => value === undefined ? reasons.required : check(value),
  });
}
