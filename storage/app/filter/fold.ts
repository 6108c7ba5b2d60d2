// Puts a request into a condition: what needs no record is decided here, and only the rest becomes SQL.
import type {
  ColumnTerm,
  Comparison,
  Condition,
  NowTerm,
  RequestTerm,
  Term,
  Truth,
  ValueTerm,
} from './condition.ts';
import { findOpen, type Reduced } from './reduced.ts';
import { comparedAs, operators } from './operators/operators.ts';
import type { WorkBudget } from './work-budget.ts';
import { decideComparison, isUnknown, readRequest, type Requested, type RequestValues } from './request.ts';
import type { Operator } from './parse/tree.ts';

/** A comparison that needs the record, or its opposite. */
export type Test =
  | {
    kind: 'compare';
    operator: Operator;
    left: ColumnTerm | ValueTerm;
    right: ColumnTerm | ValueTerm;
    negated: boolean;
  }
  | { kind: 'empty'; term: ColumnTerm; negated: boolean };

/** The rest of a condition, for one request. */
export type Residue = Reduced<Test>;

/** A request, and the budget for reading it; unlimited by default. */
interface BudgetedRequest extends RequestValues {
  budget?: WorkBudget | undefined;
}

/**
 * Puts a request's values into a condition. The result has no constants, unless it is one as a whole. Throws nothing
 * but the `RangeError` of the budget.
 */
export function fold(condition: Condition, values: RequestValues, budget?: WorkBudget): Residue {
  const request: BudgetedRequest = { ...values, budget };
  return reduce<Test>(
    condition,
    false,
    (comparison, negated) =>
      comparison.kind === 'empty'
        ? foldEmptiness(comparison.term, negated, request)
        : foldComparison(comparison, negated, request),
  );
}

/** A comparison with the body, which has not been read yet. */
interface Open {
  kind: 'open';
}

/**
 * Puts a request's values into a condition as far as that is possible before the body is read. What this refuses would
 * be refused whatever the body and the record are.
 */
export function foldEarly(condition: Condition, request: Omit<RequestValues, 'body'>): Reduced<Test | Open> {
  const withoutBody = { ...request, body: {} };
  return reduce<Test | Open>(condition, false, (comparison, negated) => {
    if (comparison.kind === 'empty') {
      return isBodyMember(comparison.term)
        ? { kind: 'open' }
        : foldEmptiness(comparison.term, negated, withoutBody);
    }
    const { left, right } = comparison;
    if (!isBodyMember(left) && !isBodyMember(right)) return foldComparison(comparison, negated, withoutBody);
    // If the value that the body is compared with is missing, no body makes the comparison true.
    const isLost = [left, right].some((term) =>
      term.kind !== 'column' && !isBodyMember(term) && isUnknown(readValue(term, withoutBody))
    );
    return isLost ? constant('unknown', negated) : { kind: 'open' };
  });
}

/** The decision of `foldEarly`; undefined when it is still open. */
export function decideEarly(condition: Condition, request: Omit<RequestValues, 'body'>): boolean | undefined {
  const residue = foldEarly(condition, request);
  return residue.kind === 'constant' ? residue.passes : undefined;
}

/** True when nothing of a condition is open. Then it is what `fold` would return, whatever the body is. */
export function isClosed(residue: Reduced<Test | Open>): residue is Residue {
  switch (residue.kind) {
    case 'open':
      return false;
    case 'and':
    case 'or':
      return residue.parts.every(isClosed);
    case 'some':
      return isClosed(residue.part);
    default:
      return true;
  }
}

function isBodyMember(term: Term): boolean {
  return term.kind === 'request' && term.part === 'body';
}

/** Pushes negation down to the comparisons, so that unknown can count as failed: it stays unknown under `!`. */
function reduce<Rest extends { kind: string }>(
  condition: Condition,
  negated: boolean,
  foldTest: (comparison: Comparison, negated: boolean) => Reduced<Rest>,
): Reduced<Rest> {
  switch (condition.kind) {
    case 'constant':
      return constant(condition.truth, negated);
    case 'not':
      return reduce(condition.part, !negated, foldTest);
    case 'and':
    case 'or': {
      const kind = (condition.kind === 'and') === negated ? 'or' : 'and';
      return join(kind, condition.parts.map((part) => reduce(part, negated, foldTest)));
    }
    case 'some':
      return reduceSome(condition, negated, foldTest);
    case 'compare':
    case 'empty':
      return foldTest(condition, negated);
  }
}

function reduceSome<Rest extends { kind: string }>(
  { reach, part }: Extract<Condition, { kind: 'some' }>,
  negated: boolean,
  foldTest: (comparison: Comparison, negated: boolean) => Reduced<Rest>,
): Reduced<Rest> {
  const reduced = reduce(part, negated, foldTest);
  if (isConstant(reduced)) {
    // Passed by no record, or, negated, by all there may be: none has to be looked for.
    if (reduced.passes === negated) return reduced;
    // Unknown of every record, it is unknown also where there is none, or whoever the request lacks would pass.
    const plain = negated ? reduce(part, false, foldTest) : reduced;
    if (negated && fails(plain)) return reduced;
    // Whether it is that may be for the body to say, although nothing of the part itself is.
    const open = findOpen(plain);
    if (open !== undefined) return { kind: 'some', reach, part: open, negated };
  }
  return { kind: 'some', reach, part: reduced, negated };
}

function fails(part: { kind: string }): boolean {
  return isConstant(part) && !part.passes;
}

function constant(truth: Truth, negated: boolean): { kind: 'constant'; passes: boolean } {
  return { kind: 'constant', passes: truth !== 'unknown' && truth !== negated };
}

function join<Rest extends { kind: string }>(
  kind: 'and' | 'or',
  parts: readonly Reduced<Rest>[],
): Reduced<Rest> {
  const neutral = kind === 'and';
  const rest: Reduced<Rest>[] = [];
  for (const part of parts) {
    if (!isConstant(part)) rest.push(part);
    else if (part.passes !== neutral) return part;
  }
  const [only, ...others] = rest;
  if (only === undefined) return { kind: 'constant', passes: neutral };
  return others.length === 0 ? only : { kind, parts: rest };
}

function isConstant(part: { kind: string }): part is { kind: 'constant'; passes: boolean } {
  return part.kind === 'constant';
}

function foldEmptiness(term: Term, negated: boolean, request: RequestValues): Residue {
  if (term.kind === 'column') return { kind: 'empty', term, negated };
  const found = readValue(term, request);
  return constant(found === null || found === 'absent', negated);
}

function foldComparison(
  { operator, left, right }: Extract<Comparison, { kind: 'compare' }>,
  negated: boolean,
  request: BudgetedRequest,
): Residue {
  if (left.kind === 'column' && right.kind === 'column') {
    return { kind: 'compare', operator, left, right, negated };
  }
  if (left.kind === 'column') {
    const value = readValue(asValue(right), request);
    return foldHalf({ operator, column: left, value, negated }, (known) => ({ left, right: known }));
  }
  const value = readValue(left, request);
  if (right.kind === 'column') {
    return foldHalf({ operator, column: right, value, negated }, (known) => ({ left: known, right }));
  }
  return constant(decideComparison(operator, value, readValue(right, request), request.budget), negated);
}

function asValue(term: Term): Exclude<Term, ColumnTerm> {
  if (term.kind === 'column') throw new TypeError('a column is no value');
  return term;
}

interface Half {
  operator: Operator;
  column: ColumnTerm;
  value: Requested;
  negated: boolean;
}

/** A comparison of a column and a known value. */
function foldHalf(
  { operator, column, value, negated }: Half,
  sides: (value: ValueTerm) => { left: ColumnTerm | ValueTerm; right: ColumnTerm | ValueTerm },
): Residue {
  const meaning = operators[operator];
  if (isUnknown(value)) return constant('unknown', negated);
  if (value === null) return constant(meaning.withoutValue, negated);
  const isUnlike = column.type !== 'json' && comparedAs(meaning, column.type, value.type) === undefined;
  if (!isUnlike) return { kind: 'compare', operator, negated, ...sides(value) };
  return meaning.withoutValue ? { kind: 'empty', term: column, negated } : constant(false, negated);
}

function readValue(term: ValueTerm | NowTerm | RequestTerm, request: BudgetedRequest): Requested {
  if (term.kind === 'value') return term;
  const found = readRequest(term, request);
  if (typeof found === 'object') request.budget?.spend(found?.value);
  return found;
}
