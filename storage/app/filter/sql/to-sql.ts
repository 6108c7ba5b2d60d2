// The meaning in SQL: a condition's residue as a text with parameters only. All synchronous: a postgres.js fragment is a
// thenable, and an async function that returned one would run it.
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

/** Where the text will stand. */
export interface SqlPosition {
  /** Alias of the filtered table in the statement; not `related_<number>`. */
  alias: string;
  /** Number of the first parameter that is free. */
  firstParameter: number;
  /**
   * What a related record must pass to be looked at, as the residue of a condition on its own collection; without it every
   * related record is. A record that does not pass is as if it were not there.
   */
  guard?: (target: string) => Residue;
}

/** A boolean expression for `where`; null stands for false. `true` and `false` alone when nothing is to be asked. */
export interface SqlCondition {
  text: string;
  params: (string | number)[];
}

/**
 * How many tests of related records PostgreSQL may join with everything else, which lets it start from either end. To plan
 * joins takes memory by the square of their number: gigabytes for a few hundred, and no timeout ends it in time.
 */
const maxJoined = 8;

interface Context {
  readonly slots: BoundParameters;
  readonly aliases: { count: number };
  /** Whether tests of related records may become joins; else each is looked up by itself. */
  readonly joins: boolean;
  /** Quoted alias of the table whose columns are meant. */
  readonly alias: string;
  readonly guard: SqlPosition['guard'];
}

/** Writes a residue down. */
export function toSql(residue: Residue, { alias, firstParameter, guard }: SqlPosition): SqlCondition {
  const slots: BoundParameters = { firstParameter, params: [], steps: new Map() };
  const gathered = groupRelatedTests(residue);
  const joins = countRelated(gathered) <= maxJoined;
  const text = write(gathered, { slots, aliases: { count: 0 }, joins, alias: quoteIdentifier(alias), guard });
  return { text, params: slots.params };
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
  const spell: ColumnWriter = (term) =>
    term.hops.length === 0 ? columnIn(context.alias, term) : subselect(term, context);
  const inside = comparisonSql(test, spell, context.slots);
  const isOwn = testColumns(test).every(({ hops }) => hops.length === 0);
  return negateIf(isOwn && mayTakeLong(test) ? interruptible(inside) : inside, test.negated);
}

/** Tests of one related record become a semi-join, unless there are too many tests; `is true` keeps them from that. */
function writeRelatedTests({ tests, glue, passWithoutRecord }: RelatedTests, context: Context): string {
  const { from, alias } = join(tests[0].column.hops, context);
  const sought = tests.map(({ test, column }) => {
    const spell: ColumnWriter = (term) => columnIn(term === column ? alias : context.alias, term);
    const inside = comparisonSql(test, spell, context.slots);
    return passesWithoutValue(test) ? `(${inside}) is not true` : `(${inside})`;
  });
  // Where they pass without a record, one is sought that fails them: all of several when one that passes is enough.
  const tie = passWithoutRecord === (glue === 'and') ? 'or' : 'and';
  const found = `exists (select ${from} and (${sought.join(` ${tie} `)}))`;
  return `${passWithoutRecord ? 'not ' : ''}${context.joins ? found : `(${found}) is true`}`;
}

function columnIn(alias: string, { column }: ColumnTerm): string {
  return `${alias}.${quoteIdentifier(column)}`;
}

/**
 * PostgreSQL tests for a timeout between the steps of a plan, not within the expressions of one row, however many there
 * are; a subselect is a step of its own.
 */
function interruptible(test: string): string {
  return `(select ${test})`;
}

function negateIf(text: string, negated: boolean): string {
  return negated ? `((${text}) is not true)` : `(${text})`;
}

/** The tables behind hops, tied to each other and to the row outside. */
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

/** At most one row: every hop leads to a primary key. */
function subselect(term: ColumnTerm, context: Context): string {
  const { from, alias } = join(term.hops, context);
  return `(select ${columnIn(alias, term)} ${from})`;
}
