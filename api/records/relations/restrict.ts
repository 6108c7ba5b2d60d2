// Access rules as restrictions of the statements on records.
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import { parseArray } from '../../../storage/sql/text-array.ts';
import type { Restriction, WriteRestriction } from '../../../storage/app/records/restriction.ts';
import { canPointTo, firstValue } from '../../../storage/app/records/records.ts';
import type { Residue } from '../../../storage/app/filter/fold.ts';
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { filesId } from '../../../storage/definition.ts';
import { usersId } from '../../../storage/workspace/identities.ts';
import { failValidation } from '../../errors.ts';
import { type Access, ruleResidue } from '../../rules/access.ts';
import { maxGuardComparisons } from '../../rules/caller-filter.ts';
import { comparisonsToRead } from '../../rules/compile.ts';
import { readableFiles } from '../../rules/files.ts';
import { relatedGuard } from '../../rules/related.ts';
import type { RecordScope, RecordTarget } from '../collection.ts';
import { missingTarget } from '../input/write-errors.ts';
import type { RecordInput } from '../input/values.ts';
import { refuseUnfitFiles } from './file-limits.ts';

/** The rule of the access as a restriction; undefined when every record passes. Throws `401` or `403` when none does. */
export function ruleRestriction(
  access: Access,
  target: RecordTarget,
  body?: RecordInput,
): Restriction | undefined {
  const residue = ruleResidue(access, target, body);
  return residue === undefined ? undefined : { residue };
}

/** The fields that a write sets, by their positions, and their values. */
export interface WrittenValues {
  positions: readonly number[];
  values: readonly (StoredValue | null)[];
  /** Fields that hooks or defaults have set: what they point to need not be readable to the caller. */
  byOthers?: ReadonlySet<string> | undefined;
}

/** The same, and the files among the values that the caller may read. */
export interface CheckedValues extends WrittenValues {
  readable: ReadonlySet<string>;
}

/** Finds out which of the files that a write sets its caller may read. Throws `400 validation` for those that a field does not take. */
export async function checkFiles<Values extends WrittenValues>(
  access: Access,
  scope: RecordScope,
  written: Values,
): Promise<Values & CheckedValues> {
  const ids = access.unbounded ? [] : referencesOf(scope, written)
    .filter(({ target }) => target === filesId).flatMap(({ ids }) => ids);
  const readable = ids.length === 0 ? new Set<string>() : await readableFiles(
    { ...scope, app: scope.target.app },
    access,
    ids,
  );
  await refuseUnfitFiles(
    scope,
    written,
    (field, id) => access.unbounded || readable.has(id) || written.byOthers?.has(field) === true,
  );
  return { ...written, readable };
}

/** A relation or a file that is written, and the rule under which its caller must be able to read what it points to. */
interface Pointing {
  field: string;
  value: string;
  isMany: boolean;
  parameter: number;
  table: { schema: string; collection: string };
  residue: Residue;
}

/** The restriction of a create or an update: its rule, and that its relations point to records that the caller may read. */
export function writeRestriction(
  access: Access,
  scope: RecordScope,
  body: RecordInput,
  written: CheckedValues,
): WriteRestriction {
  const rule = ruleRestriction(access, scope.target, body);
  return { rule, targets: pointings(access, scope, written) };
}

/**
 * Ends the request with `400` for relations to records that the caller may not read, with the message for records that do
 * not exist. To be called when a restricted write has found nothing to write.
 */
export async function refuseUnreachable(
  access: Access,
  scope: RecordScope,
  written: CheckedValues,
): Promise<void> {
  const refused: string[] = [];
  for (const { field, value, ...reach } of pointings(access, scope, written)) {
    if (!await scope.connection.run((sql) => canPointTo(sql, value, reach))) refused.push(field);
  }
  if (refused.length > 0) {
    failValidation(refused.map((field) => missingTarget(scope.plan, field)));
  }
}

function pointings(access: Access, scope: RecordScope, written: CheckedValues): Pointing[] {
  const { app } = scope.target;
  // An API key may point to what it may not read, as an admin may.
  const guard = access.unbounded ? undefined : relatedGuard(access, app);
  if (guard === undefined) return [];
  let comparisons = 0;
  return referencesOf(scope, written).flatMap(({ field, target, ids, ...reference }) => {
    const residue = target === filesId ? fileResidue(written, ids) : guard(target);
    if (residue.kind === 'constant' && residue.passes) return [];
    comparisons += comparisonsToRead(app, target);
    if (comparisons > maxGuardComparisons) {
      failValidation([{ field, reason: 'is one relation too many for one write, by the get rules' }]);
    }
    return [{ field, ...reference, table: { schema: app.schema, collection: target }, residue }];
  });
}

function fileResidue({ readable }: CheckedValues, ids: readonly string[]): Residue {
  return { kind: 'constant', passes: ids.every((id) => readable.has(id)) };
}

/** A relation or a file that the caller of a write has set. */
interface Reference {
  field: string;
  target: string;
  /** As it is sent to PostgreSQL. */
  value: string;
  isMany: boolean;
  ids: readonly string[];
  parameter: number;
}

/** Users need no rule to be pointed to: a caller who knows the id of one may name it as owner, member or addressee. */
function referencesOf({ plan }: RecordScope, { positions, values, byOthers }: WrittenValues): Reference[] {
  return positions.flatMap((position, index) => {
    const field = plan.fields[position]?.field;
    const value = values[index];
    const target = field === undefined ? undefined : pointsTo(field);
    if (field === undefined || target === undefined || target === usersId) return [];
    if (typeof value !== 'string' || byOthers?.has(field.name) === true) return [];
    const isMany = field.many === true;
    const ids = isMany ? parseArray(value) : [value];
    if (ids.length === 0) return [];
    return [{ field: field.name, target, value, isMany, ids, parameter: firstValue + index }];
  });
}
