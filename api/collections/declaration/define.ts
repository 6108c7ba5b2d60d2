// Declarations of collections: their schema, and the checks that need no other collection.
import type { Field } from '../../../storage/definition.ts';
import type { FieldSetting } from '../../../storage/app/fields/kind.ts';
import { kindNames, kindOf } from '../../../storage/app/fields/kinds.ts';
import type { FieldError } from '../../errors.ts';
import {
  anyValue,
  array,
  boolean,
  described,
  finiteNumber,
  flagOr,
  object,
  oneOf,
  optional,
  type Schema,
  string,
} from '../../contract/schema.ts';
import { indexesSchema } from './indexes.ts';
import { stated } from '../../contract/stated.ts';
import { fieldNameFault, legalName } from './names.ts';

const maxFields = 500;

const fieldMembers = {
  name: stated(string(), { pattern: legalName.source }),
  kind: oneOf(kindNames),
  required: optional(described(boolean(), 'Refuses a missing or null value.')),
  default: optional(described(anyValue(), 'The value that a create stores when the field is left out.')),
  min: optional(
    described(finiteNumber(), 'Least value of a number; least length of a text; least number of items.'),
  ),
  max: optional(finiteNumber()),
  options: optional(described(array(string()), 'The values of a `select`.')),
  target: optional(described(string(), 'The collection that a `relation` points to, or `users`.')),
  many: optional(
    described(
      boolean(),
      'Makes the value of a `select`, `relation` or `file` an array without duplicates. `min` and `max` (100) are ' +
        'numbers of items.',
    ),
  ),
  max_size: optional(described(finiteNumber(), 'Bytes that a file of a `file` field has at most.')),
  mime: optional(
    described(array(string()), 'Media types of the files of a `file` field, such as `image/*`.'),
  ),
  delete_with_record: optional(
    described(boolean(), 'Deletes files of a `file` field with the last record that holds them.'),
  ),
  cascade_delete: optional(
    described(boolean(), 'Deletes the record together with the one that it points to.'),
  ),
  unique: optional(boolean()),
  index: optional(boolean()),
  search: optional(
    described(boolean(), 'Lets `search` of lists find the words of a `text`; earlier fields weigh more.'),
  ),
  autonumber: optional(
    described(
      flagOr(object({ within: optional(string()) })),
      'Gives records of a `number` field 1, 2, 3 …, in the collection or for each value of the field `within`.',
    ),
  ),
};

const fieldSchema = object(fieldMembers);

const changedFieldSchema = object({
  ...fieldMembers,
  was: optional(described(string(), 'The name that the field has had until now: renames it.')),
});

const language = described(
  optional(string()),
  'The text search configuration of PostgreSQL for fields with `search: true`; default `simple`.',
);

const query = described(
  optional(string({ min: 1, max: 10_000 })),
  'Of a `view`: one `SELECT` over collections of the app, whose columns become the fields.',
);

const fieldsSchema = array(fieldSchema, { max: maxFields });

/** The body of a create. */
export const collectionBody = object({
  schema: object({
    id: stated(string(), { pattern: legalName.source }),
    kind: optional(oneOf(['base', 'auth', 'view'])),
    query,
    language,
    fields: optional(fieldsSchema),
    indexes: optional(indexesSchema),
  }),
});

/** The body of a change, with the full list of fields, and that of indexes unless these stay as they are. */
export const collectionChangeBody = object({
  schema: object({
    id: optional(string()),
    kind: optional(oneOf(['base', 'auth', 'view'])),
    query,
    language,
    fields: optional(array(changedFieldSchema, { max: maxFields })),
    indexes: optional(indexesSchema),
  }),
});

/** The schema of a field in a response. */
export const fieldResponse: Schema<Field> = fieldSchema;

const settings: readonly FieldSetting[] = [
  'min',
  'max',
  'options',
  'target',
  'many',
  'max_size',
  'mime',
  'delete_with_record',
  'cascade_delete',
  'unique',
  'index',
  'autonumber',
  'search',
];

/** The errors in a list of fields that do not depend on other collections. */
export function fieldErrors(fields: readonly Field[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, field] of fields.entries()) {
    const nameFault = fieldNameFault(field.name) ??
      (names.has(field.name) ? `"${field.name}" is declared twice` : undefined);
    if (nameFault !== undefined) errors.push({ field: `schema.fields.${index}.name`, reason: nameFault });
    names.add(field.name);
    const at = (member: string) => `schema.fields.${nameFault === undefined ? field.name : index}.${member}`;
    const faults = settingFaults(field);
    for (const { setting, reason } of faults) errors.push({ field: at(setting), reason });
    // A default is checked by the settings, so these must be valid first.
    const reason = faults.length === 0 ? defaultFault(field) : undefined;
    if (reason !== undefined) errors.push({ field: at('default'), reason });
  }
  return errors;
}

function settingFaults(field: Field): { setting: FieldSetting; reason: string }[] {
  const kind = kindOf(field);
  const misplaced = settings.filter((setting) =>
    field[setting] !== undefined && field[setting] !== false && !kind.settings.includes(setting)
  );
  if (misplaced.length === 0) return kind.settingFaults(field);
  const fields = `${field.kind} fields${
    field.many === true && kind.settings.includes('many') ? ' of many' : ''
  }`;
  return misplaced.map((setting) => ({ setting, reason: `is not a setting of ${fields}` }));
}

function defaultFault(field: Field): string | undefined {
  if (field.default === undefined || field.default === null) return undefined;
  const reading = kindOf(field).reader(field)(field.default);
  if ('reason' in reading) return reading.reason;
  return field.kind === 'json' && isRounded(String(reading.value))
    ? 'must not contain a number that a double cannot hold'
    : undefined;
}

/** True when JSON comes out of a definition with other numbers: definitions are parsed when they are read. */
function isRounded(text: string): boolean {
  return JSON.stringify(JSON.parse(text)) !== text;
}
