// Values that a JSON Schema of the API description admits, for property tests.
import fc from 'fast-check';
import type { JsonSchema } from '../../api/contract/json-schema.ts';

const longest = 40;

/** Values of a schema. Throws for a `$ref` that `schemas` lacks. */
export function valuesOf(
  json: JsonSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type, const: only, enum: words } = json;
  if ($ref !== undefined) {
    const found = schemas[$ref.replace('#/components/schemas/', '')];
    if (found === undefined) throw new RangeError(`${$ref} is not among the schemas`);
    return valuesOf(found, schemas);
  }
  if (only !== undefined) return fc.constant(only);
  if (words !== undefined) return fc.constantFrom(...words);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => valuesOf(each, schemas)));
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => valuesOf({ ...json, type: each }, schemas)));
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({
        min: json.minimum ?? -1_000,
        max: Math.min(json.maximum ?? 1_000_000, 2 ** 31 - 1),
      });
    case 'number':
      return fc.double({
        min: json.minimum ?? -1e6,
        max: json.maximum ?? 1e6,
        ...{ noNaN: true, noDefaultInfinity: true },
      });
    case 'string':
      return textsOf(json);
    case 'array':
      return fc.uniqueArray(valuesOf(json.items ?? {}, schemas), {
        minLength: json.minItems ?? 0,
        maxLength: Math.min(json.maxItems ?? 3, Math.max(3, json.minItems ?? 0)),
        selector: (value) => JSON.stringify(value),
      });
    case 'object':
      return objectsOf(json, schemas);
    default:
      return fc.jsonValue({ maxDepth: 2 }).filter((value) => JSON.stringify(value).length < 1_000);
  }
}

function textsOf({ pattern, format, minLength = 0, maxLength = longest }: JsonSchema): fc.Arbitrary<string> {
  const fits = (text: string) => [...text].length >= minLength && [...text].length <= maxLength;
  const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, longest)) };
  const made = format === 'uuid'
    ? fc.uuid()
    : format === 'date-time'
    ? fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
    : format === 'idn-email'
    ? fc.emailAddress({ size: 'small' })
    : format === 'uri'
    ? fc.webUrl({ size: 'small' })
    : pattern !== undefined
    ? fc.stringMatching(new RegExp(pattern))
    : fc.string({ unit: 'grapheme', ...bounds });
  return made.filter(fits);
}

function objectsOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, schema]) =>
    [name, valuesOf(schema, schemas)] as const
  );
  const known = fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
  if (additionalProperties !== true || members.length > 0) return known;
  return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 1 }), {
    maxKeys: 3,
    noNullPrototype: true,
  });
}
