// Writes a residue as SQL with parameters only. All functions are synchronous: a postgres.js fragment is a thenable,
// and an async function that returned one would run it.
import { quoteIdentifier } from '../../../sql/quote.ts';
import { qualified } from '../../tables.ts';
import type { ColumnTerm, Reach } from '../condition.ts';
import type { Residue, Test } from '../fold.ts';
import type { Some } from '../reduced.ts';
import type { FilterSource } from '../source.ts';
import {
  countRelated,
  type GroupedResidue,
  groupRelatedTests,
  mayTakeLong,
  passesWithoutValue,
  type RelatedTests,
  testColumns,
} from './related-tests.ts';
import { pinnedColumn } from './pinned.ts';
import { type BoundParameters, type ColumnWriter, comparisonSql } from './comparison.ts';

/** The position of the text in its statement. */
export interface SqlPosition {
  /** Alias of the filtered table in the statement; not `related_<number>`. */
  alias: string;
  /** Number of the first free parameter. */
  firstParameter: number;
  /** Writes the parameter of a number; `$1` and so on when left out. */
  parameter?: (number: number) => string;
  /** Writes a table of related records; its name when left out. */
  table?: (source: FilterSource) => string;
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
  readonly joined: { count: number };
  /** True when tests of related records may become joins; else each is a subselect of its own. */
  readonly joins: boolean;
  /** Quoted aliases of the tables whose columns are meant, by level: see `ColumnTerm`. */
  readonly aliases: readonly string[];
  readonly guard: SqlPosition['guard'];
  readonly table: (source: FilterSource) => string;
}

/** Writes a residue. */
export function toSql(
  residue: Residue,
  { alias, guard, table = tableName, ...numbers }: SqlPosition,
): SqlCondition {
  const parameters: BoundParameters = { ...numbers, params: [], steps: new Map() };
  const grouped = groupRelatedTests(residue);
  const joins = countRelated(grouped) <= maxJoined;
  const text = write(grouped, {
    parameters,
    joined: { count: 0 },
    joins,
    aliases: [quoteIdentifier(alias)],
    guard,
    table,
  });
  return { text, params: parameters.params };
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
    case 'some':
      return writeSome(residue, context);
  }
}

/** Writes the search for one of many related records: one that passes, or negated, one that does not. */
function writeSome(some: Some<Test | RelatedTests>, context: Context): string {
  const { reach, part, negated } = some;
  const pinned = context.guard === undefined ? pinnedColumn(some, context.aliases.length) : undefined;
  if (pinned !== undefined) return writePinned(some, pinned, context);
  const { from, alias } = joinReach(reach, context);
  const inside = write(part, { ...context, aliases: [...context.aliases, alias] });
  const found = `exists (select ${from} and ${negated ? `(${inside}) is not true` : inside})`;
  return `${negated ? 'not ' : ''}${context.joins ? found : `(${found}) is true`}`;
}

function writePinned(
  { reach: { source, level }, part }: Some<Test | RelatedTests>,
  { column, by }: { column: string; by: string },
  context: Context,
): string {
  const joined: Joined = { tables: [], ties: [], alias: aliasAt(context.aliases, level) };
  const named = nameIn(joined.alias, column);
  addTable(joined, source, context);
  const inside = write(part, { ...context, aliases: [...context.aliases, joined.alias] });
  return `(${named} = any(array(select ${nameIn(joined.alias, by)} ${fromClause(joined)} and ${inside})))`;
}

function writeTest(test: Test, context: Context): string {
  const writeColumn: ColumnWriter = (term) =>
    term.hops.length === 0 ? columnIn(context.aliases, term) : subselect(term, context);
  const inside = comparisonSql(test, writeColumn, context.parameters);
  const isOwn = testColumns(test).every(({ hops }) => hops.length === 0);
  return negateIf(isOwn && mayTakeLong(test) ? interruptible(inside) : inside, test.negated);
}

/** Writes tests of one related record as a semi-join; `is true` prevents the join where there are too many. */
function writeRelatedTests({ tests, glue, passWithoutRecord }: RelatedTests, context: Context): string {
  const { from, alias } = join(tests[0].column, context);
  const tested = tests.map(({ test, column }) => {
    const writeColumn: ColumnWriter = (term) =>
      term === column ? nameIn(alias, term.column) : columnIn(context.aliases, term);
    const inside = comparisonSql(test, writeColumn, context.parameters);
    return passesWithoutValue(test) ? `(${inside}) is not true` : `(${inside})`;
  });
  // Where they pass without a record, the search is for one that fails them: all of them when one that passes is
  // enough.
  const tie = passWithoutRecord === (glue === 'and') ? 'or' : 'and';
  const found = `exists (select ${from} and (${tested.join(` ${tie} `)}))`;
  return `${passWithoutRecord ? 'not ' : ''}${context.joins ? found : `(${found}) is true`}`;
}

function columnIn(aliases: readonly string[], { level, column }: ColumnTerm): string {
  return nameIn(aliasAt(aliases, level), column);
}

function nameIn(alias: string, column: string): string {
  return `${alias}.${quoteIdentifier(column)}`;
}

function aliasAt(aliases: readonly string[], level: number): string {
  const alias = aliases[level];
  if (alias === undefined) throw new RangeError(`no record of level ${level}`);
  return alias;
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

/** Tables that are joined, and what ties them to each other and to the outer row. */
interface Joined {
  tables: string[];
  ties: string[];
  /** Of the last one. */
  alias: string;
}

/** The tables behind a column's hops. */
function join(place: Pick<ColumnTerm, 'level' | 'hops'>, context: Context): { from: string; alias: string } {
  const joined = joinHops(place, context);
  return { from: fromClause(joined), alias: joined.alias };
}

function joinHops({ level, hops }: Pick<ColumnTerm, 'level' | 'hops'>, context: Context): Joined {
  const joined: Joined = { tables: [], ties: [], alias: aliasAt(context.aliases, level) };
  for (const { column, target, source, isOwn } of hops) {
    const from = nameIn(joined.alias, column);
    addTable(joined, source, context);
    joined.ties.push(`${joined.alias}."id" = ${from}`);
    if (isOwn !== true) guardTable(joined, target, context);
  }
  return joined;
}

/** The table of the records that a condition asks for, behind those on the way to it. */
function joinReach(
  { target, source, by, through, level, hops }: Reach,
  context: Context,
): { from: string; alias: string } {
  const last = context.guard === undefined && through === undefined ? hops.at(-1) : undefined;
  // The id of the record that the last hop leads to stands in the record before: nothing else of it is needed.
  const joined = joinHops({ level, hops: last === undefined ? hops : hops.slice(0, -1) }, context);
  const named = nameIn(joined.alias, through ?? last?.column ?? 'id');
  addTable(joined, source, context);
  if (through !== undefined) joined.ties.push(`${joined.alias}."id" = any(${named})`);
  if (by !== undefined) {
    const column = nameIn(joined.alias, by);
    // Not `any`, which no index of an array answers.
    const isMany = source.columns.get(by)?.isMany === true;
    joined.ties.push(isMany ? `${column} @> array[${named}]` : `${column} = ${named}`);
  }
  guardTable(joined, target, context);
  return { from: fromClause(joined), alias: joined.alias };
}

function addTable(joined: Joined, source: FilterSource, { joined: counted, table }: Context): void {
  joined.alias = quoteIdentifier(`related_${++counted.count}`);
  joined.tables.push(`${table(source)} as ${joined.alias}`);
}

function tableName({ table }: FilterSource): string {
  return qualified(table);
}

/** A record that does not pass the guard is treated as missing. */
function guardTable({ ties, alias }: Joined, target: string, context: Context): void {
  const { guard } = context;
  if (guard === undefined) return;
  const passes = groupRelatedTests(guard(target));
  ties.push(write(passes, { ...context, joins: false, aliases: [alias], guard: undefined }));
}

function fromClause({ tables, ties }: Joined): string {
  return `from ${tables.join(', ')} where ${ties.length === 0 ? 'true' : ties.join(' and ')}`;
}

/** At most one row, since every hop leads to a primary key. */
function subselect(term: ColumnTerm, context: Context): string {
  const { from, alias } = join(term, context);
  return `(select ${nameIn(alias, term.column)} ${from})`;
}
