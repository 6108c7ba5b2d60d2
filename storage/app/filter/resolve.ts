// Resolves a parsed filter against its collection: names become columns, literals get the type of the other side.
import { type Condition, isColumn, type Reach, type ScalarType, type Term } from './condition.ts';
import { FilterError, quoted } from './parse/error.ts';
import { type Meaning, operators } from './operators/operators.ts';
import { isPattern, maxPatternLength } from './operators/pattern.ts';
import { sideOf, sidesFault } from './operators/sides.ts';
import { splitPath, writtenPath } from './reach.ts';
import type { FilterScope } from './source.ts';
import type { Expression, Operator, Path } from './parse/tree.ts';
import { normalizeAddress } from '../../sql/email-address.ts';
import { type Present, resolveColumn, resolveTerm, scalarType, type ScopedOperand } from './terms.ts';

/** Resolves every part of a filter. Throws `FilterError`. */
export function resolve(expression: Expression, scope: FilterScope): Condition {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { kind: expression.kind, parts: expression.parts.map((part) => resolve(part, scope)) };
    case 'not':
      return { kind: 'not', part: resolve(expression.part, scope) };
    case 'compare':
      return compare(expression.operator, { operand: expression.left, scope }, {
        operand: expression.right,
        scope,
      });
    case 'in':
      return isOneOf(
        { operand: expression.left, scope },
        expression.items.map((operand) => ({ operand, scope })),
      );
    case 'some':
      return someOf(expression, scope);
  }
}

/** One of many related records that meets a condition. */
function someOf({ path, part }: Extract<Expression, { kind: 'some' }>, scope: FilterScope): Condition {
  const many = splitPath(path, scope, 'records');
  if (many === undefined) {
    const { isMany } = resolveColumn(path, scope);
    const name = writtenPath(path);
    const hint = `${quoted(name)} ${
      isMany === true ? 'has values' : 'is one value'
    }, and takes no condition in parentheses: compare ${name}, or a field of it`;
    throw new FilterError('parse_error', hint, path.at);
  }
  const { reach, rest } = many;
  const inner = rest.names.length === 0
    ? resolve(part, many.scope)
    : someOf({ kind: 'some', path: rest, part }, many.scope);
  return { kind: 'some', reach, part: inner };
}

/** The related records of a side that leads to many, and the side that is compared for each of them. */
function splitSide({ operand, scope }: ScopedOperand): { reach: Reach; inner: ScopedOperand } | undefined {
  const many = operand.kind === 'path' ? splitPath(operand, scope) : undefined;
  if (many === undefined) return undefined;
  const { reach, rest } = many;
  // A record itself is compared by its id.
  const inner = rest.names.length > 0 ? rest : { ...rest, names: ['id'] };
  return { reach, inner: { operand: inner, scope: many.scope } };
}

function isOneOf(left: ScopedOperand, items: readonly ScopedOperand[]): Condition {
  const many = splitSide(left);
  if (many !== undefined) return { kind: 'some', reach: many.reach, part: isOneOf(many.inner, items) };
  if (items.length > 0) {
    return { kind: 'or', parts: items.map((item) => compare('=', left, item)) };
  }
  const term = isPresent(left) ? resolveTerm(left, undefined) : undefined;
  // Equal to nothing, and still unknown when the request lacks it.
  return term?.kind === 'request'
    ? { kind: 'compare', operator: '=', left: term, right: { kind: 'value', type: 'number', value: NaN } }
    : { kind: 'constant', truth: false };
}

function compare(operator: Operator, left: ScopedOperand, right: ScopedOperand): Condition {
  if (!isPresent(left)) return compareWithNull(operator, right, left.operand.at);
  if (!isPresent(right)) return compareWithNull(operator, left, right.operand.at);
  const meaning = operators[operator];
  const many = compareMany(operator, left, right);
  if (many !== undefined) return many;
  const terms = sameCase(meaning, [
    resolveTerm(left, typeBeside(left, right, meaning)),
    resolveTerm(right, typeBeside(right, left, meaning)),
  ]);
  const fault = sidesFault(meaning.sides, sideOf(terms[0]), sideOf(terms[1]));
  if (fault !== undefined) {
    throw new FilterError('parse_error', `${quoted(operator)} ${fault}`, left.operand.at);
  }
  if (meaning.pattern) refuseLongPattern(right.operand);
  return { kind: 'compare', operator, left: terms[0], right: terms[1] };
}

/**
 * The comparison of a side that leads to many: one of them is equal, or none is unequal. Undefined for
 * other sides, and for one that holds many values, which is a comparison of its own.
 */
function compareMany(operator: Operator, left: ScopedOperand, right: ScopedOperand): Condition | undefined {
  const [leftMany, rightMany] = [splitSide(left), splitSide(right)];
  const many = leftMany ?? rightMany;
  const withItems = many !== undefined ? undefined : [left, right].find(hasItems);
  if (many === undefined && withItems === undefined) return undefined;
  const { negates, orders } = operators[operator];
  if (negates !== undefined) return { kind: 'not', part: compare(negates, left, right) };
  const { operand } = withItems ?? (leftMany === undefined ? right : left);
  if (orders === true && operand.kind === 'path') throw withoutOrder(operator, operand, withItems);
  if (many === undefined) return undefined;
  const part = leftMany === undefined
    ? compare(operator, left, many.inner)
    : compare(operator, many.inner, right);
  return { kind: 'some', reach: many.reach, part };
}

/** True for a field that holds many values: a comparison is of one of them. */
function hasItems({ operand, scope }: ScopedOperand): boolean {
  return operand.kind === 'path' && resolveColumn(operand, scope).isMany === true;
}

function withoutOrder(operator: Operator, path: Path, items: ScopedOperand | undefined): FilterError {
  const many = `${quoted(writtenPath(path))} ${
    items === undefined ? 'leads to many records' : 'has many values'
  }`;
  const hint = items === undefined
    ? `: ask for one of them, as in ${path.names.slice(0, -1).join('.')}(${path.names.at(-1)} ${operator} …)`
    : ': one of them is compared by "=", "!=", "~" and in';
  return new FilterError(
    'parse_error',
    `${many}, which ${quoted(operator)} does not compare${hint}`,
    path.at,
  );
}

function isPresent(side: ScopedOperand): side is ScopedOperand<Present> {
  return side.operand.kind !== 'null';
}

/** Lowers the capitals of what is compared with an email address, in the filter or in the request. */
function sameCase(
  { pattern }: Meaning,
  terms: readonly [Term, Term],
): readonly [Term, Term] {
  if (pattern || !terms.some(isAddress)) return terms;
  return [inLowerCase(terms[0]), inLowerCase(terms[1])];
}

/** True for a column of addresses, and for the caller's own address, which are kept in lower case. */
function isAddress(term: Term): boolean {
  if (term.kind === 'request') {
    return term.part === 'auth' && term.name === 'email' || term.profile?.column.isEmail === true;
  }
  return isColumn(term) && term.isEmail === true;
}

function inLowerCase(term: Term): Term {
  if (term.kind === 'request') return { ...term, isEmail: true };
  return term.kind === 'value' && typeof term.value === 'string'
    ? { ...term, value: normalizeAddress(term.value) }
    : term;
}

function refuseLongPattern(operand: Present): void {
  const isLiteral = operand.kind === 'text' || operand.kind === 'number' || operand.kind === 'boolean';
  if (!isLiteral || isPattern(operand.written)) return;
  throw new FilterError('parse_error', `more than ${maxPatternLength} characters to search for`, operand.at);
}

/** The type that a value takes from the other side; a literal takes it only from a side with a type of its own. */
function typeBeside(
  { operand }: ScopedOperand<Present>,
  other: ScopedOperand<Present>,
  meaning: Meaning,
): ScalarType | undefined {
  if (meaning.pattern) return 'text';
  const { kind } = other.operand;
  if (kind === 'now' || kind === 'path') return scalarType(resolveTerm(other, undefined));
  const own = kind === 'request' ? scalarType(resolveTerm(other, undefined)) : undefined;
  if (own !== undefined) return own;
  return operand.kind === 'request' && kind !== 'request' ? kind : undefined;
}

function compareWithNull(operator: Operator, other: ScopedOperand, nullAt: number): Condition {
  if (operator !== '=' && operator !== '!=') {
    throw new FilterError('parse_error', 'null can be compared with = and != only', nullAt);
  }
  const isEmpty = emptiness(other);
  return operator === '=' ? isEmpty : { kind: 'not', part: isEmpty };
}

/** True when a side has no value; one that leads to many, when none of them has. */
function emptiness(side: ScopedOperand): Condition {
  if (!isPresent(side)) return { kind: 'constant', truth: true };
  const many = splitSide(side);
  if (many !== undefined) {
    const part: Condition = { kind: 'not', part: emptiness(many.inner) };
    return { kind: 'not', part: { kind: 'some', reach: many.reach, part } };
  }
  const term = resolveTerm(side, undefined);
  return term.kind === 'column' || term.kind === 'request'
    ? { kind: 'empty', term }
    : { kind: 'constant', truth: false };
}
