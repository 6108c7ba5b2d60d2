// Resolves a parsed filter against its collection: names become columns, literals get the type of the other side.
import {
  type ColumnTerm,
  type Condition,
  type Hop,
  isColumn,
  type ScalarType,
  type Term,
  termType,
  type ValueTerm,
} from './condition.ts';
import { FilterError, quoted } from './parse/error.ts';
import { type Meaning, operators } from './operators/operators.ts';
import { isPattern, maxPatternLength } from './operators/pattern.ts';
import { sideOf, sidesFault } from './operators/sides.ts';
import { usersId } from '../../workspace/identities.ts';
import type { FilterScope } from './source.ts';
import type { Expression, Literal, Operand, Operator } from './parse/tree.ts';
import { lowerCase, parseScalar } from './operators/values.ts';

type Present = Exclude<Operand, { kind: 'null' }>;

const maxHops = 3;
/** As deep as JSON may be nested. Functions of PostgreSQL take at most 100 arguments. */
const maxSteps = 64;

/** Resolves every part of a filter. Throws `FilterError`. */
export function resolve(expression: Expression, scope: FilterScope): Condition {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { kind: expression.kind, parts: expression.parts.map((part) => resolve(part, scope)) };
    case 'not':
      return { kind: 'not', part: resolve(expression.part, scope) };
    case 'compare':
      return compare(expression.operator, [expression.left, expression.right], scope);
    case 'in':
      return isOneOf(expression.left, expression.items, scope);
  }
}

function isOneOf(left: Operand, items: readonly Operand[], scope: FilterScope): Condition {
  if (items.length > 0) {
    return { kind: 'or', parts: items.map((item) => compare('=', [left, item], scope)) };
  }
  const term = left.kind === 'null' ? undefined : resolveTerm(left, scope, undefined);
  // Equal to nothing, and still unknown when the request lacks it.
  return term?.kind === 'request'
    ? { kind: 'compare', operator: '=', left: term, right: { kind: 'value', type: 'number', value: NaN } }
    : { kind: 'constant', truth: false };
}

function compare(
  operator: Operator,
  [left, right]: readonly [Operand, Operand],
  scope: FilterScope,
): Condition {
  if (left.kind === 'null') return compareWithNull(operator, right, { nullAt: left.at, scope });
  if (right.kind === 'null') return compareWithNull(operator, left, { nullAt: right.at, scope });
  const meaning = operators[operator];
  const terms = sameCase(meaning, [
    resolveTerm(left, scope, typeBeside(left, right, { meaning, scope })),
    resolveTerm(right, scope, typeBeside(right, left, { meaning, scope })),
  ]);
  const fault = sidesFault(meaning.sides, sideOf(terms[0]), sideOf(terms[1]));
  if (fault !== undefined) throw new FilterError('parse_error', `${quoted(operator)} ${fault}`, left.at);
  if (meaning.pattern) refuseLongPattern(right);
  return { kind: 'compare', operator, left: terms[0], right: terms[1] };
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
  if (term.kind === 'request') return term.part === 'auth' && term.name === 'email';
  return isColumn(term) && term.isEmail === true;
}

function inLowerCase(term: Term): Term {
  if (term.kind === 'request') return { ...term, isEmail: true };
  return term.kind === 'value' && typeof term.value === 'string'
    ? { ...term, value: lowerCase(term.value) }
    : term;
}

function refuseLongPattern(operand: Present): void {
  const isLiteral = operand.kind === 'text' || operand.kind === 'number' || operand.kind === 'boolean';
  if (!isLiteral || isPattern(operand.written)) return;
  throw new FilterError('parse_error', `more than ${maxPatternLength} characters to search for`, operand.at);
}

/** The type that a value takes from the other side; a literal takes it only from a side with a type of its own. */
function typeBeside(
  operand: Present,
  other: Present,
  { meaning, scope }: { meaning: Meaning; scope: FilterScope },
): ScalarType | undefined {
  if (meaning.pattern) return 'text';
  if (other.kind === 'now' || other.kind === 'path') return scalarType(resolveTerm(other, scope, undefined));
  return operand.kind === 'request' && other.kind !== 'request' ? other.kind : undefined;
}

function compareWithNull(
  operator: Operator,
  other: Operand,
  { nullAt, scope }: { nullAt: number; scope: FilterScope },
): Condition {
  if (operator !== '=' && operator !== '!=') {
    throw new FilterError('parse_error', 'null can be compared with = and != only', nullAt);
  }
  const isEmpty = emptiness(other, scope);
  return operator === '=' ? isEmpty : { kind: 'not', part: isEmpty };
}

function emptiness(operand: Operand, scope: FilterScope): Condition {
  if (operand.kind === 'null') return { kind: 'constant', truth: true };
  const term = resolveTerm(operand, scope, undefined);
  return term.kind === 'column' || term.kind === 'request'
    ? { kind: 'empty', term }
    : { kind: 'constant', truth: false };
}

/** A literal or a member of the request is read as `type`, if that is given. */
function resolveTerm(operand: Present, scope: FilterScope, type: ScalarType | undefined): Term {
  switch (operand.kind) {
    case 'path':
      return resolveColumn(operand, scope);
    case 'now':
      return { kind: 'now' };
    case 'request':
      return { kind: 'request', part: operand.part, name: operand.name, readAs: type };
    case 'text':
    case 'number':
    case 'boolean':
      return literalAs(operand, type);
  }
}

function resolveColumn(
  { names, at }: { names: readonly string[]; at: number },
  scope: FilterScope,
): ColumnTerm {
  const hops: Hop[] = [];
  let { source } = scope;
  for (const [index, name] of names.entries()) {
    const column = source.columns.get(name);
    const steps = names.slice(index + 1);
    if (column === undefined) break;
    if (steps.length === 0 || column.type === 'json') {
      if (column.ofUser !== undefined) {
        hops.push({ column: 'id', target: usersId, source: column.ofUser, isOwn: true });
      }
      if (steps.length > maxSteps) throw tooLong(`${maxSteps} steps into JSON`, at);
      return { kind: 'column', hops, column: name, type: column.type, path: steps, isEmail: column.isEmail };
    }
    const next = column.target === undefined ? undefined : scope.target(column.target);
    if (next === undefined || column.target === undefined) break;
    source = next;
    hops.push({ column: name, target: column.target, source });
    if (hops.length > maxHops) throw tooLong(`${maxHops} relations`, at);
  }
  throw new FilterError('unknown_column', `unknown column ${quoted(names.join('.'))}`, at);
}

function tooLong(limit: string, at: number): FilterError {
  return new FilterError('parse_error', `a path takes at most ${limit}`, at);
}

const typeNames: Record<ScalarType, string> = {
  text: 'a text',
  number: 'a number',
  boolean: 'true or false',
  datetime: 'a date and time such as 2026-01-02T03:04:05Z',
  uuid: 'a UUID',
};

/** Compared with a text, a number or truth value is the text that was written. */
function literalAs(literal: Literal, type: ScalarType | undefined): ValueTerm {
  if (type === undefined || type === literal.kind) {
    return { kind: 'value', type: literal.kind, value: literal.value };
  }
  const value = parseScalar[type](literal.written);
  if (value !== undefined) return { kind: 'value', type, value };
  throw new FilterError('parse_error', `${quoted(literal.written)} is not ${typeNames[type]}`, literal.at);
}

function scalarType(term: Term): ScalarType | undefined {
  const type = termType(term);
  return type === 'json' ? undefined : type;
}
