// Checks a change of a collection against the records that are there, and says which fields get their default in them.
import type { TableDefinition } from '../../storage/app/alter/attachments.ts';
import { countEmpty, countOptions, hasDefault, lockForWrites } from '../../storage/app/alter/fill.ts';
import { numberingOf } from '../../storage/app/fields/autonumber.ts';
import type { TableName } from '../../storage/app/tables.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { Field } from '../../storage/definition.ts';
import { type FieldError, fieldsError } from '../errors.ts';

/** A change of a table, before it is made: its fields are still named as `before` says. */
export interface IntendedAlteration {
  before: TableDefinition;
  after: TableDefinition;
  /** The old names of renamed fields, by the new ones. */
  formerNames: ReadonlyMap<string, string>;
  /** True when records without a value get the default of a new field, or of one that is required from now on. */
  fill: boolean;
}

/**
 * Returns the fields whose default is to be filled in. Throws `409 conflict` with the numbers of records, for options that
 * are in use, and for required fields that they lack. Nobody writes records then until the transaction has ended.
 */
export async function checkRecords(
  sql: Sql,
  table: TableName,
  { before, after, formerNames, fill }: IntendedAlteration,
): Promise<ReadonlySet<string>> {
  const old = new Map(before.fields.map((field) => [field.name, field]));
  const filled = new Set<string>();
  const checks: (() => Promise<FieldError[]>)[] = [];
  for (const field of after.fields) {
    const former = old.get(formerNames.get(field.name) ?? field.name);
    const gone = removedOptions(former, field);
    if (former !== undefined && gone.length > 0) {
      checks.push(() => optionErrors(sql, table, { field, former, gone }));
    }
    // Numbers are given to all records.
    const isRequired = field.required === true && former?.required !== true &&
      numberingOf(field) === undefined;
    if (fill && hasDefault(field) && (former === undefined || isRequired)) filled.add(field.name);
    else if (isRequired) checks.push(() => requiredErrors(sql, table, { field, former }));
  }
  if (checks.length === 0) return filled;
  await lockForWrites(sql, table);
  const errors: FieldError[] = [];
  for (const check of checks) errors.push(...await check());
  if (errors.length > 0) throw fieldsError('conflict', errors);
  return filled;
}

function removedOptions(before: Field | undefined, after: Field): string[] {
  const kept = new Set(after.options);
  return (before?.options ?? []).filter((option) => !kept.has(option));
}

async function optionErrors(
  sql: Sql,
  table: TableName,
  { field, former, gone }: { field: Field; former: Field; gone: readonly string[] },
): Promise<FieldError[]> {
  const records = await countOptions(sql, table, former, gone);
  if (records === 0) return [];
  const removed = gone.slice(0, 20).map((option) => JSON.stringify(option)).join(', ');
  return [{
    field: `schema.fields.${field.name}.options`,
    reason: `${have(records)} ${removed}, which is removed`,
  }];
}

async function requiredErrors(
  sql: Sql,
  table: TableName,
  { field, former }: { field: Field; former: Field | undefined },
): Promise<FieldError[]> {
  const records = await countEmpty(sql, table, former);
  if (records === 0) return [];
  const hint = hasDefault(field) ? 'add ?fill=default' : 'give it a default, and add ?fill=default';
  const reason = `cannot be required, because ${have(records)} no value; to fill it in, ${hint}`;
  return [{ field: `schema.fields.${field.name}.required`, reason }];
}

function have(records: number): string {
  return records === 1 ? '1 record has' : `${records} records have`;
}
