// The definition that a change of a collection makes, or everything that is wrong with the change.
import type { TableDefinition } from '../../../storage/app/alter/attachments.ts';
import { type Renames, withNewNames } from '../../../storage/app/alter/rename.ts';
import type { CollectionDefinition, CollectionIndex, Field } from '../../../storage/definition.ts';
import { failValidation, type FieldError } from '../../errors.ts';
import { numberingChange, numberingErrors } from './autonumber.ts';
import { ownFields } from './implied.ts';
import { indexErrors, keptIndexErrors } from './indexes.ts';
import { type ChangedField, readRenames } from './renames.ts';
import { targetErrors } from './targets.ts';

/** The new declaration of a collection. */
export interface ChangedCollection {
  id?: string | undefined;
  kind?: 'base' | 'auth' | 'view' | undefined;
  /** The query of a view, which has no fields of its own. */
  query?: string | undefined;
  /** The language of searches stays as it is when this is left out. */
  language?: string | undefined;
  fields: readonly ChangedField[];
  /** The indexes stay as they are when this is left out. */
  indexes?: readonly CollectionIndex[] | undefined;
}

/** A change that nothing is wrong with. */
export interface CheckedChange {
  renames: Renames;
  /** The definition of before, with the new names. */
  renamed: TableDefinition;
  after: TableDefinition;
}

/** Checks a change of a collection. Throws `400 validation` with everything that is wrong in it. */
export function checkChange(
  before: CollectionDefinition,
  { declared, drop, collections, rulesOf }: {
    declared: ChangedCollection;
    drop: boolean;
    collections: ReadonlyMap<string, CollectionDefinition>;
    /** What to say of the rules that read a field of `before`. */
    rulesOf: (name: string) => string;
  },
): CheckedChange {
  const own = ownFields(before.kind, declared.fields);
  const { fields, renames, errors } = readRenames(before.fields, own.fields);
  const renamed = withNewNames(before, renames);
  const indexes = declared.indexes ?? renamed.indexes;
  const refused = [
    ...identityErrors(before, declared),
    ...own.errors,
    ...errors,
    ...changeErrors(renamed.fields, fields, drop ? undefined : rulesOf),
    ...numberingErrors(fields),
    ...targetErrors(fields, collections),
    ...declared.indexes === undefined ? keptIndexErrors(indexes, fields) : indexErrors(indexes, fields),
  ];
  if (refused.length > 0) failValidation(refused);
  return { renames, renamed, after: { fields, indexes } };
}

/** The errors of a declaration that has another id or kind than the collection. */
export function identityErrors(
  before: CollectionDefinition,
  { id, kind }: { id?: string | undefined; kind?: string | undefined },
): FieldError[] {
  const errors: FieldError[] = [];
  if (id !== undefined && id !== before.id) {
    errors.push({ field: 'schema.id', reason: `must be "${before.id}": a collection cannot be renamed` });
  }
  if (kind !== undefined && kind !== before.kind) {
    errors.push({ field: 'schema.kind', reason: `must be "${before.kind}": it cannot be changed` });
  }
  return errors;
}

/** Fields may be dropped when it does not matter what reads them. */
function changeErrors(
  before: readonly Field[],
  after: readonly Field[],
  rulesOf: ((name: string) => string) | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  const wanted = new Map(after.map((field) => [field.name, field]));
  for (const field of before) {
    const { name, kind, target, many } = field;
    const next = wanted.get(name);
    const at = `schema.fields.${name}`;
    if (next === undefined) {
      if (rulesOf !== undefined) {
        const reason = `is missing; to drop it and its data, add ?confirm=drop${rulesOf(name)}`;
        errors.push({ field: at, reason });
      }
    } else if (next.kind !== kind) {
      errors.push({ field: `${at}.kind`, reason: `must be "${kind}": it cannot be changed` });
    } else if (next.target !== target) {
      errors.push({ field: `${at}.target`, reason: `must be "${target}": it cannot be changed` });
    } else if (many === true && next.many !== true) {
      const reason = 'must be true: records may hold more than one value';
      errors.push({ field: `${at}.many`, reason });
    } else errors.push(...numberingChange(field, next));
  }
  return errors;
}
