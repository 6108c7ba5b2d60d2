// JSON Schemas of an app's records, and of what creates and changes them.
import { kindOf } from '../../storage/app/fields/kinds.ts';
import type { CollectionDefinition } from '../../storage/definition.ts';
import { inputFields, recordFields, takesWrites } from '../collections/record-members.ts';
import { maxPasswordLength } from '../contract/credentials.ts';
import { type JsonSchema, orNull } from '../contract/json-schema.ts';

const uuid: JsonSchema = { type: 'string', format: 'uuid' };
const time: JsonSchema = { type: 'string', format: 'date-time' };

/** The schemas of a collection by their names, which begin with `name`. */
export function recordSchemas(collection: CollectionDefinition, name: string): Record<string, JsonSchema> {
  const record = { [`${name}Record`]: recordSchema(collection) };
  return takesWrites(collection)
    ? { ...record, [`${name}Create`]: createSchema(collection), [`${name}Update`]: updateSchema(collection) }
    : record;
}

/** With `fields` of a query, a record has only some of them: so none is required. */
function recordSchema(collection: CollectionDefinition): JsonSchema {
  const fields = recordFields(collection).map(({ field, isNullable }) => {
    const schema = kindOf(field).jsonSchema(field);
    return [field.name, isNullable ? orNull(schema) : schema] as const;
  });
  return objectOf({
    id: uuid,
    collection: { type: 'string', const: collection.id },
    fields: objectOf(Object.fromEntries(fields), []),
    created_at: time,
    updated_at: time,
    expand: {
      type: 'object',
      description: 'With `expand` of a query: related records and files, by the names that it asks for.',
      additionalProperties: true,
    },
  }, ['id', 'collection', 'fields']);
}

function createSchema(collection: CollectionDefinition): JsonSchema {
  const properties: Record<string, JsonSchema> = { id: uuid };
  const required: string[] = [];
  if (collection.kind === 'auth') {
    properties['email'] = { type: 'string', format: 'idn-email' };
    properties['password'] = { type: 'string', minLength: 1, maxLength: maxPasswordLength };
    required.push('email');
  }
  for (const { field, isNullable, isRequired } of inputFields(collection)) {
    const { default: fallback } = field;
    const schema = kindOf(field).jsonSchema(field);
    const admitted = isNullable ? orNull(schema) : schema;
    properties[field.name] = fallback === undefined || fallback === null
      ? admitted
      : { ...admitted, default: fallback };
    if (isRequired) required.push(field.name);
  }
  return objectOf(properties, required);
}

function updateSchema(collection: CollectionDefinition): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const { field, isNullable, isModifiable } of inputFields(collection)) {
    const schema = kindOf(field).jsonSchema(field);
    properties[field.name] = isNullable ? orNull(schema) : schema;
    if (!isModifiable) continue;
    // The bounds are those of the result.
    const unbounded = kindOf(field).jsonSchema({ ...field, min: undefined, max: undefined, required: false });
    properties[`${field.name}+`] = properties[`${field.name}-`] = unbounded;
  }
  return objectOf(properties, []);
}

function objectOf(properties: Record<string, JsonSchema>, required: string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}
