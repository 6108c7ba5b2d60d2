// The meaning in SQL: a condition's residue as a text with parameters only. All synchronous: a postgres.js fragment is a
// thenable, and an async function that returned one would run it.
import { quoteIdentifier } from '../quote.ts';
import { qualified } from '../tables.ts';
import { type ColumnTerm, type Hop, isColumn } from './condition.ts';
import type { Residue, Test } from './fold.ts';
import { operators } from './operators.ts';
import { comparisonSql, type Slots, type Spell } from './comparison-sql.ts';

/** Where the text will stand. */
export interface SqlPlace {
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
const mostJoined = 8;

interface Context {
  readonly slots: Slots;
  readonly aliases: { count: number };
  /** Whether tests of related records may become joins; else each is looked up by itself. */
  readonly joins: boolean;
  /** Quoted alias of the table whose columns are meant. */
  readonly alias: string;
  readonly guard: SqlPlace['guard'];
}

/** Writes a residue down. */
export function toSql(residue: Residue, { alias, firstParameter, guard }: SqlPlace): SqlCondition {
  const slots: Slots = { firstParameter, params: [], steps: new Map() };
  const joins = countRelated(residue) <= mostJoined;
  const text = write(residue, { slots, aliases: { count: 0 }, joins, alias: quoteIdentifier(alias), guard });
  return { text, params: slots.params };
}

function countRelated(residue: Residue): number {
  switch (residue.kind) {
    case 'constant':
      return 0;
    case 'and':
    case 'or':
      return residue.parts.reduce((sum, part) => sum + countRelated(part), 0);
    case 'compare':
    case 'empty':
      return columnsOf(residue).some(({ hops }) => hops.length > 0) ? 1 : 0;
  }
}

function write(residue: Residue, context: Context): string {
  switch (residue.kind) {
    case 'constant':
      return String(residue.passes);
    case 'and':
    case 'or':
      return `(${residue.parts.map((part) => write(part, context)).join(` ${residue.kind} `)})`;
    case 'compare':
    case 'empty':
      return writeTest(residue, context);
  }
}

/** A test that looks at one related record becomes a semi-join, unless there are too many; `is true` keeps it from that. */
function writeTest(test: Test, context: Context): string {
  const columns = columnsOf(test);
  const far = columns.find(({ hops }) => hops.length > 0);
  const near: Spell = ({ column }) => `${context.alias}.${quoteIdentifier(column)}`;
  if (far === undefined) {
    const inside = comparisonSql(test, near, context.slots);
    return negate(isLong(test, columns) ? interruptible(inside) : inside, test.negated);
  }
  if (columns.some((column) => column !== far && column.hops.length > 0)) {
    const spell: Spell = (term) => term.hops.length === 0 ? near(term) : subselect(term, context);
    return negate(comparisonSql(test, spell, context.slots), test.negated);
  }
  const { from, alias } = join(far.hops, context);
  const inside = comparisonSql(
    test,
    (term) => term === far ? `${alias}.${quoteIdentifier(term.column)}` : near(term),
    context.slots,
  );
  // Where no related record is, the test has its answer for sides without a value.
  const withoutRecord = test.kind === 'empty' || operators[test.operator].withoutValue;
  const sought = withoutRecord ? `(${inside}) is not true` : `(${inside})`;
  const found = `exists (select ${from} and ${sought})`;
  return `${withoutRecord === test.negated ? '' : 'not '}${context.joins ? found : `(${found}) is true`}`;
}

/** Whether a single evaluation may take long: of a pattern in a text, and of a place in JSON, of up to megabytes. */
function isLong(test: Test, columns: readonly ColumnTerm[]): boolean {
  return test.kind === 'compare' && operators[test.operator].pattern ||
    columns.some(({ type }) => type === 'json');
}

/**
 * PostgreSQL looks for a timeout between the steps of a plan, not within the expressions of one row, however many there
 * are; a subselect is a step of its own.
 */
function interruptible(test: string): string {
  return `(select ${test})`;
}

function columnsOf(test: Test): ColumnTerm[] {
  return test.kind === 'empty' ? [test.term] : [test.left, test.right].filter(isColumn);
}

function negate(text: string, negated: boolean): string {
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
      ties.push(write(guard(target), { ...context, joins: false, alias, guard: undefined }));
    }
  }
  return { from: `from ${tables.join(', ')} where ${ties.join(' and ')}`, alias };
}

/** At most one row: every hop leads to a primary key. */
function subselect(term: ColumnTerm, context: Context): string {
  const { from, alias } = join(term.hops, context);
  return `(select ${alias}.${quoteIdentifier(term.column)} ${from})`;
}
