// Writes a residue as SQL with parameters only. All functions are synchronous: a postgres.js fragment is a thenable,
// and an async function that returned one would run it.
import { quoteIdentifier } from '../../../sql/quote.ts';
import { qualified } from '../../tables.ts';
import type { ColumnTerm, Hop } from '../condition.ts';
import type { Residue, Test } from '../fold.ts';
import {
  type GroupedResidue,
  groupRelatedTests,
  mayTakeLong,
  passesWithoutValue,
  type RelatedTests,
  testColumns,
} from './related-tests.ts';
import { type BoundParameters, type ColumnWriter, comparisonSql } from './comparison.ts';

/** The position of the text in its statement. */
export interface SqlPosition {
  /** Alias of the filtered table in the statement; not `related_<number>`. */
  alias: string;
  /** Number of the first free parameter. */
  firstParameter: number;
  /**
   * The residue that a related record must pass to be read, by the id of its collection; without it, all pass. A record
   * that does not pass is treated as missing.
   */
  guard?: (target: string) => Residue;
}

/**
 * A boolean expression for `where`. Null stands for false. The text is `true` or `false` when there is nothing to test.
 */
export interface SqlCondition {
  text: string;
  params: (string | number)[];
}

/**
 * The number of tests of related records that PostgreSQL may join with everything else, so that it can start from
 * either end. Planning joins takes memory by the square of their number: gigabytes for a few hundred, and no timeout
 * ends it in time.
 */
const maxJoined = 8;

interface Context {
  readonly parameters: BoundParameters;
  readonly aliases: { count: number };
  /** True when tests of related records may become joins; else each is a subselect of its own. */
  readonly joins: boolean;
  /** Quoted alias of the table whose columns are meant. */
  readonly alias: string;
  readonly guard: SqlPosition['guard'];
}

/** Writes a residue. */
export function toSql(residue: Residue, { alias, firstParameter, guard }: SqlPosition): SqlCondition {
  const parameters: BoundParameters = { firstParameter, params: [], steps: new Map() };
  const grouped = groupRelatedTests(residue);
  const joins = countRelated(grouped) <= maxJoined;
  const text = write(grouped, {
    parameters,
    aliases: { count: 0 },
    joins,
    alias: quoteIdentifier(alias),
    guard,
  });
  return { text, params: parameters.params };
}

function countRelated(residue: GroupedResidue): number {
  switch (residue.kind) {
    case 'constant':
      return 0;
    case 'and':
    case 'or':
      return residue.parts.reduce((sum, part) => sum + countRelated(part), 0);
    case 'compare':
    case 'empty':
      return testColumns(residue).some(({ hops }) => hops.length > 0) ? 1 : 0;
    case 'related':
      return 1;
  }
}

function write(residue: GroupedResidue, context: Context): string {
  switch (residue.kind) {
    case 'constant':
      return String(residue.passes);
    case 'and':
    case 'or':
      return `(${residue.parts.map((part) => write(part, context)).join(` ${residue.kind} `)})`;
    case 'compare':
    case 'empty':
      return writeTest(residue, context);
    case 'related':
      return writeRelatedTests(residue, context);
  }
}

function writeTest(test: Test, context: Context): string {
  const writeColumn: ColumnWriter = (term) =>
    term.hops.length === 0 ? columnIn(context.alias, term) : subselect(term, context);
  const inside = comparisonSql(test, writeColumn, context.parameters);
  const isOwn = testColumns(test).every(({ hops }) => hops.length === 0);
  return negateIf(isOwn && mayTakeLong(test) ? interruptible(inside) : inside, test.negated);
}

/** Writes tests of one related record as a semi-join; `is true` prevents the join where there are too many. */
function writeRelatedTests({ tests, glue, passWithoutRecord }: RelatedTests, context: Context): string {
  const { from, alias } = join(tests[0].column.hops, context);
  const tested = tests.map(({ test, column }) => {
    const writeColumn: ColumnWriter = (term) => columnIn(term === column ? alias : context.alias, term);
    const inside = comparisonSql(test, writeColumn, context.parameters);
    return passesWithoutValue(test) ? `(${inside}) is not true` : `(${inside})`;
  });
  // Where they pass without a record, the search is for one that fails them: all of them when one that passes is
  // enough.
  const tie = passWithoutRecord === (glue === 'and') ? 'or' : 'and';
  const found = `exists (select ${from} and (${tested.join(` ${tie} `)}))`;
  return `${passWithoutRecord ? 'not ' : ''}${context.joins ? found : `(${found}) is true`}`;
}

function columnIn(alias: string, { column }: ColumnTerm): string {
  return `${alias}.${quoteIdentifier(column)}`;
}

/**
 * PostgreSQL checks its timeouts between the steps of a plan, not within the expressions of one row, however many they
 * are. A subselect is a step of its own.
 */
function interruptible(test: string): string {
  return `(select ${test})`;
}

function negateIf(text: string, negated: boolean): string {
  return negated ? `((${text}) is not true)` : `(${text})`;
}

/** The tables behind hops, joined to each other and to the outer row. */
function join(hops: readonly Hop[], context: Context): { from: string; alias: string } {
  const { aliases, guard } = context;
  let { alias } = context;
  const tables: string[] = [];
  const ties: string[] = [];
  for (const { column, target, source, isOwn } of hops) {
    const from = alias;
    alias = quoteIdentifier(`related_${++aliases.count}`);
    tables.push(`${qualified(source.table)} as ${alias}`);
    ties.push(`${alias}."id" = ${from}.${quoteIdentifier(column)}`);
    if (guard !== undefined && isOwn !== true) {
      ties.push(
        write(groupRelatedTests(guard(target)), { ...context, joins: false, alias, guard: undefined }),
      );
    }
  }
  return { from: `from ${tables.join(', ')} where ${ties.join(' and ')}`, alias };
}

/** At most one row, since every hop leads to a primary key. */
function subselect(term: ColumnTerm, context: Context): string {
  const { from, alias } = join(term.hops, context);
  return `(select ${columnIn(alias, term)} ${from})`;
}
