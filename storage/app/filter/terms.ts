// Resolves one side of a comparison: a path becomes a column, a literal gets the type of the other side.
import {
  type ColumnTerm,
  type Hop,
  type ProfileColumn,
  type RequestTerm,
  type ScalarType,
  type Term,
  termType,
  type ValueTerm,
} from './condition.ts';
import { parseScalar } from './operators/values.ts';
import { FilterError, quoted } from './parse/error.ts';
import type { Literal, Operand, Path } from './parse/tree.ts';
import { maxHops, startOf, writtenPath } from './reach.ts';
import type { FilterScope } from './source.ts';
import { usersId } from '../../workspace/identities.ts';

/** An operand that may have a value. */
export type Present = Exclude<Operand, { kind: 'null' }>;

/** An operand of a comparison, and the scope of its names. */
export interface ScopedOperand<Kind extends Operand = Operand> {
  operand: Kind;
  scope: FilterScope;
}

/** As deep as JSON may be nested. Functions of PostgreSQL take at most 100 arguments. */
const maxSteps = 64;

/** A literal or a member of the request is read as `type`, if that is given. */
export function resolveTerm({ operand, scope }: ScopedOperand<Present>, type: ScalarType | undefined): Term {
  switch (operand.kind) {
    case 'path':
      return resolveColumn(operand, scope);
    case 'now':
      return { kind: 'now' };
    case 'request':
      return resolveMember(operand, scope, type);
    case 'text':
    case 'number':
    case 'boolean':
      return literalAs(operand, type);
  }
}

/** The types of the caller's members that are no texts. */
const memberTypes: ReadonlyMap<string, ScalarType> = new Map([['verified', 'boolean'], [
  'created_at',
  'datetime',
]]);

function resolveMember(
  { part, name, path, at }: Extract<Operand, { kind: 'request' }>,
  scope: FilterScope,
  readAs: ScalarType | undefined,
): RequestTerm {
  const term: RequestTerm = { kind: 'request', part, name, readAs };
  if (part !== 'auth') return term;
  if (name === 'profile') {
    const profile = resolveProfile(path, scope, at);
    return { ...term, name: path.slice(0, 2).join('.'), profile };
  }
  const type = memberTypes.get(name);
  return type === undefined ? term : { ...term, type, readAs: type };
}

/** A field of the caller's record in an `auth` collection: `members.plan`. Throws `FilterError` `unknown_column`. */
function resolveProfile(
  [collection = '', ...names]: readonly string[],
  scope: FilterScope,
  at: number,
): ProfileColumn {
  const source = scope.profile(collection);
  const field = source?.columns.get(names[0] ?? '');
  if (source === undefined || field === undefined || names.length > 1 && field.type !== 'json') {
    const written = `@request.auth.profile.${[collection, ...names].join('.')}`;
    throw new FilterError('unknown_column', `unknown column ${quoted(written)}`, at);
  }
  const column = resolveColumn({ kind: 'path', from: 'row', names, at }, { ...scope, source });
  if (column.isMany === true) {
    const name = quoted(`@request.auth.profile.${collection}.${names[0]}`);
    throw new FilterError('parse_error', `${name} has many values, and a member of the request has one`, at);
  }
  return { collection, column: { ...column, hops: [] }, isGuarded: scope.isOfCaller === true };
}

/** The column that a path leads to. Throws `FilterError` `unknown_column`. */
export function resolveColumn(path: Path, scope: FilterScope): ColumnTerm {
  const { names, at } = path;
  const hops: Hop[] = [];
  let { source, level } = startOf(path, scope);
  for (const [index, name] of names.entries()) {
    const column = source.columns.get(name);
    const steps = names.slice(index + 1);
    if (column === undefined) break;
    if (steps.length === 0 || column.type === 'json') {
      if (column.ofUser !== undefined) {
        hops.push({ column: 'id', target: usersId, source: column.ofUser, isOwn: true });
      }
      if (steps.length > maxSteps) throw tooLong(`${maxSteps} steps into JSON`, at);
      return {
        kind: 'column',
        level,
        hops,
        column: name,
        type: column.type,
        path: steps,
        isEmail: column.isEmail,
        ...column.isMany === true && { isMany: true },
      };
    }
    const next = column.target === undefined ? undefined : scope.target(column.target);
    if (next === undefined || column.target === undefined || column.isMany === true) break;
    source = next;
    hops.push({ column: name, target: column.target, source });
    if (hops.length > maxHops) throw tooLong(`${maxHops} relations`, at);
  }
  throw new FilterError('unknown_column', `unknown column ${quoted(writtenPath(path))}`, at);
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

/** The scalar type of a term, as far as it is known before there is a request. */
export function scalarType(term: Term): ScalarType | undefined {
  const type = termType(term);
  return type === 'json' ? undefined : type;
}
