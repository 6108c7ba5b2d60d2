// Restrictions of statements on records: access rules and filters, and which related records a caller may point to.
// They become SQL here, behind the parameters that the statement has already.
import type { Residue } from '../filter/fold.ts';
import { type SqlPosition, toSql } from '../filter/sql/to-sql.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { qualified, type TableName } from '../tables.ts';

/** The condition that a record must pass to be read or written. */
export interface Restriction {
  residue: Residue;
  /** The condition that a related record must pass to be read, by the name of its collection; without it, all pass. */
  guard?: (target: string) => Residue;
}

/** The check that the caller of a write may read a record which the write points to. */
export interface TargetCheck {
  /** Number of the statement's parameter that holds the id, or an array of them. */
  parameter: number;
  isMany: boolean;
  table: TableName;
  residue: Residue;
}

/** The conditions that a write must pass. */
export interface WriteRestriction {
  rule?: Restriction | undefined;
  /** Their parameters are those of the statement, whose first value is number 3. */
  targets: readonly TargetCheck[];
}

/** A condition and its parameters; the text is empty when there is nothing to test. */
export interface Where {
  text: string;
  params: (string | number)[];
}

/** Alias of the records' table in restricted statements. */
export const recordAlias = 'r';

/** The conjunction of all restrictions, with parameters from number `firstParameter` on. */
export function whereSql(
  restrictions: readonly (Restriction | undefined)[],
  firstParameter: number,
  writers: Pick<SqlPosition, 'parameter' | 'table'> = {},
): Where {
  let text = '';
  const params: (string | number)[] = [];
  for (const restriction of restrictions) {
    if (restriction === undefined || alwaysPasses(restriction.residue)) continue;
    const { residue, guard } = restriction;
    const part = toSql(residue, {
      alias: recordAlias,
      firstParameter: firstParameter + params.length,
      ...guard && { guard },
      ...writers,
    });
    text = text === '' ? part.text : `${text} and ${part.text}`;
    params.push(...part.params);
  }
  return { text, params };
}

/** The conditions of a write: on the record, and on the records that it points to. */
export function writeWhereSql({ rule, targets }: WriteRestriction, firstParameter: number): Where {
  const whole = whereSql([rule], firstParameter);
  for (const target of targets) {
    const part = targetCheckSql(target, firstParameter + whole.params.length);
    whole.text = whole.text === '' ? part.text : `${whole.text} and ${part.text}`;
    whole.params.push(...part.params);
  }
  return whole;
}

/** The test that the record which a target check names, or each of many, exists and may be read. */
export function targetCheckSql(
  { parameter, isMany, table, residue }: TargetCheck,
  firstParameter: number,
): Where {
  const alias = 'reached';
  const { text, params } = toSql(residue, { alias, firstParameter });
  const name = quoteIdentifier(alias);
  const found = (id: string) =>
    `exists (select from ${qualified(table)} as ${name} where ${name}."id" = ${id} and ${text})`;
  const ids = `unnest($${parameter}::text::uuid[]) as pointed("id")`;
  const all = `not exists (select from ${ids} where (${found('pointed."id"')}) is not true)`;
  // `is true` keeps PostgreSQL from joining them, of which there may be hundreds: see `to-sql.ts`.
  return {
    text: `(${isMany ? all : found(`$${parameter}::uuid`)}) is true`,
    params,
  };
}

function alwaysPasses(residue: Residue): boolean {
  return residue.kind === 'constant' && residue.passes;
}
