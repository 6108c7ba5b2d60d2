// A condition as a predicate over records in memory: compiled once, for streams and for records that are not stored
// yet.
import { type ColumnTerm, type Condition, hopPath, isDouble, type Term, type Truth } from './condition.ts';
import { toDouble } from '../../sql/exact-number.ts';
import { columnReader, type FilterRecord, itemsReader } from './column-value.ts';
import type { WorkBudget } from './work-budget.ts';
import { decideComparison, type Found, readRequest, type RequestValues } from './request.ts';

/** A record and the records that its relations lead to. */
export interface FilterSubject {
  record: FilterRecord;
  /**
   * The related record by its path (`author`, `author.company`; see `relatedParts`); undefined when there is none, or
   * the caller may not see it. Without this function, relations lead nowhere.
   */
  related?: (hops: string) => FilterRecord | undefined;
  /** The bound of the work; unlimited by default. */
  budget?: WorkBudget | undefined;
}

/** Decides a condition for a record and a request. Throws nothing but the `RangeError` of the budget. */
export type Predicate = (subject: FilterSubject, request: RequestValues) => Truth;

/** The meaning in memory. That of `fold` and `toSql` together is the same: a record passes when this returns true. */
export function compilePredicate(condition: Condition): Predicate {
  switch (condition.kind) {
    case 'constant':
      return () => condition.truth;
    case 'not':
      return negation(compilePredicate(condition.part));
    case 'and':
      return junction(condition.parts.map(compilePredicate), false);
    case 'or':
      return junction(condition.parts.map(compilePredicate), true);
    case 'some':
      return () => {
        throw new TypeError('the records that a condition asks for are in the database');
      };
    case 'empty': {
      if (hasItems(condition.term)) {
        const items = termItems(condition.term);
        return (subject, request) => items(subject, request).every((item) => item === null);
      }
      const read = reader(condition.term);
      return (subject, request) => {
        const found = read(subject, request);
        return found === null || found === 'absent';
      };
    }
    case 'compare': {
      const { operator } = condition;
      if (hasItems(condition.left) || hasItems(condition.right)) return itemsPredicate(condition);
      const [left, right] = comparedReaders(condition.left, condition.right);
      return (subject, request) => {
        const [one, other] = [left(subject, request), right(subject, request)];
        if (subject.budget !== undefined) spendOn(subject.budget, one, other);
        return decideComparison(operator, one, other, subject.budget);
      };
    }
  }
}

/** A comparison of one of the items of a column. */
function itemsPredicate(
  { operator, left, right }: Extract<Condition, { kind: 'compare' }>,
): Predicate {
  const [ones, others] = [termItems(left), termItems(right)];
  return (subject, request) => {
    let whole: Truth = false;
    const against = others(subject, request);
    for (const one of ones(subject, request)) {
      for (const other of against) {
        if (subject.budget !== undefined) spendOn(subject.budget, one, other);
        const truth = decideComparison(operator, one, other, subject.budget);
        if (truth === true) return true;
        if (truth === 'unknown') whole = truth;
      }
    }
    return whole;
  };
}

function hasItems(term: Term): term is ColumnTerm {
  return term.kind === 'column' && term.isMany === true;
}

/** Reads the items of a column, or the only value of another term: null when there is none. */
function termItems(term: Term): (subject: FilterSubject, request: RequestValues) => readonly Found[] {
  if (!hasItems(term)) {
    const read = reader(term);
    return (subject, request) => [read(subject, request)];
  }
  const [find, read] = [recordReader(term), itemsReader(term)];
  return (subject) => {
    const record = find(subject);
    const items = record === undefined ? [] : read(record);
    return items.length === 0 ? [null] : items;
  };
}

function comparedReaders(left: Term, right: Term): [TermReader, TermReader] {
  const readers: [TermReader, TermReader] = [reader(left), reader(right)];
  return isDouble(left) || isDouble(right) ? [rounded(readers[0]), rounded(readers[1])] : readers;
}

/** Reads numbers as doubles. */
function rounded(read: TermReader): TermReader {
  return (subject, request) => {
    const found = read(subject, request);
    return typeof found === 'object' && JSON.isRawJSON(found?.value)
      ? { ...found, value: toDouble(found.value) }
      : found;
  };
}

function spendOn(budget: WorkBudget, left: Found, right: Found): void {
  if (typeof left === 'object') budget.spend(left?.value);
  if (typeof right === 'object') budget.spend(right?.value);
}

function negation(part: Predicate): Predicate {
  return (subject, request) => {
    const truth = part(subject, request);
    return truth === 'unknown' ? truth : !truth;
  };
}

/** `decisive` is the truth of one part that decides the whole: true for `||`, false for `&&`. */
function junction(parts: readonly Predicate[], decisive: boolean): Predicate {
  return (subject, request) => {
    let whole: Truth = !decisive;
    for (const part of parts) {
      const truth = part(subject, request);
      if (truth === decisive) return decisive;
      if (truth === 'unknown') whole = truth;
    }
    return whole;
  };
}

type TermReader = (subject: FilterSubject, request: RequestValues) => Found;

function reader(term: Term): TermReader {
  switch (term.kind) {
    case 'value':
      return () => term;
    case 'now':
    case 'request':
      return (_, request) => readRequest(term, request);
    case 'column':
      return relatedReader(term);
  }
}

function relatedReader(term: ColumnTerm): TermReader {
  const [find, read] = [recordReader(term), columnReader(term)];
  return (subject) => {
    const record = find(subject);
    return record === undefined ? null : read(record);
  };
}

/** Finds the record that holds a column; undefined when it is not there. */
function recordReader({ hops }: ColumnTerm): (subject: FilterSubject) => FilterRecord | undefined {
  const name = hopPath(hops);
  return name === '' ? ({ record }) => record : ({ related }) => related?.(name);
}
