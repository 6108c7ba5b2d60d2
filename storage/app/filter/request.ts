// The members of a request that filters may name, and how they are read.
import { columnReader, type ColumnValue, type FilterRecord } from './column-value.ts';
import type { NowTerm, ProfileColumn, RequestTerm, Truth, ValueTerm } from './condition.ts';
import { comparedAs, operators } from './operators/operators.ts';
import type { WorkBudget } from './work-budget.ts';
import type { Operator } from './parse/tree.ts';
import { parseScalar } from './operators/values.ts';
import { normalizeAddress } from '../../sql/email-address.ts';

/** The caller. Members that this principal lacks are left out. */
export interface RequestPrincipal {
  id: string;
  email?: string | undefined;
  role: string;
  verified?: boolean | undefined;
  /** RFC 3339. */
  created_at?: string | undefined;
  /** Its records in `auth` collections, with the fields that are needed, by collection. */
  profiles?: Readonly<Record<string, FilterRecord>> | undefined;
  /** Those of them that it may get itself, which its own filters see. */
  visibleProfiles?: Readonly<Record<string, FilterRecord>> | undefined;
}

/** The request that a filter is decided for. */
export interface RequestValues {
  /** Milliseconds since 1970. */
  now: number;
  /** Null for an anonymous caller. */
  auth: RequestPrincipal | null;
  /** The JSON body; empty without one. */
  body: Readonly<Record<string, unknown>>;
  method: string;
  /** The query's parameters, the first value of each. */
  query: Readonly<Record<string, string | undefined>>;
}

/**
 * A member of the request when it is compared. `null`: it is null. `absent`: it is not there. `shapeless`: it is there
 * and cannot be compared, such as an array, an object or a text that PostgreSQL cannot hold. A shapeless value must not
 * pass a rule, nor its negation, so it is as unknown as an absent one.
 */
export type Requested = ValueTerm | null | 'absent' | 'shapeless';

/** Any value when it is compared. */
export type Found = Requested | ColumnValue;

/** Reads a member of the request. */
export function readRequest(term: NowTerm | RequestTerm, request: RequestValues): Requested {
  if (term.kind === 'now') return { kind: 'value', type: 'datetime', value: request.now };
  const found = readMember(term, request);
  return term.isEmail === true && typeof found === 'object' && typeof found?.value === 'string'
    ? { ...found, value: normalizeAddress(found.value) }
    : found;
}

function readMember({ part, name, readAs, profile }: RequestTerm, request: RequestValues): Requested {
  if (profile !== undefined) return readProfile(profile, request.auth);
  switch (part) {
    case 'method':
      return { kind: 'value', type: 'text', value: request.method };
    case 'query':
      return readWords(own(request.query, name), readAs);
    case 'auth':
      return readJson(own(request.auth ?? {}, name), readAs);
    case 'body':
      return readJson(own(request.body, name), readAs);
  }
}

/** A caller without a profile lacks its fields. An array or object in a `json` field is compared with nothing. */
function readProfile(
  { collection, column, isGuarded }: ProfileColumn,
  auth: RequestPrincipal | null,
): Requested {
  const profiles = (isGuarded ? auth?.visibleProfiles : auth?.profiles) ?? {};
  const record = Object.hasOwn(profiles, collection) ? profiles[collection] : undefined;
  if (record === undefined) return 'absent';
  const found = columnReader(column)(record);
  return found === 'composite' ? 'shapeless' : found;
}

/** Members of the object itself only: a body may name `constructor` or `toString`. */
function own(values: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(values, name)?.value;
}

/** All values of a query are texts, so each is read as the type of the other side. */
function readWords(value: unknown, readAs: RequestTerm['readAs']): Requested {
  const read = typeof value !== 'string' || readAs === undefined ? undefined : parseScalar[readAs](value);
  return read === undefined || readAs === undefined
    ? readJson(value, undefined)
    : { kind: 'value', type: readAs, value: read };
}

/** JSON has types of its own, without coercion between them. Only instants and UUIDs are texts there. */
function readJson(value: unknown, readAs: RequestTerm['readAs']): Requested {
  if (value === undefined) return 'absent';
  if (value === null) return null;
  if (typeof value === 'boolean') return { kind: 'value', type: 'boolean', value };
  if (typeof value === 'number' || JSON.isRawJSON(value)) return { kind: 'value', type: 'number', value };
  if (typeof value !== 'string' || parseScalar.text(value) === undefined) return 'shapeless';
  const read = readAs === 'datetime' || readAs === 'uuid' ? parseScalar[readAs](value) : undefined;
  return read === undefined || readAs === undefined
    ? { kind: 'value', type: 'text', value }
    : { kind: 'value', type: readAs, value: read };
}

/** The result of comparing two values: absence is tested first, then emptiness, then types. */
export function decideComparison(
  operator: Operator,
  left: Found,
  right: Found,
  budget?: WorkBudget,
): Truth {
  const meaning = operators[operator];
  if (isUnknown(left) || isUnknown(right)) return 'unknown';
  if (left === null || right === null) return meaning.withoutValue;
  if (left === 'composite' || right === 'composite') return false;
  if (comparedAs(meaning, left.type, right.type) === undefined) return false;
  return meaning.holds(left.value, right.value, budget);
}

/** True when a comparison with it is unknown. */
export function isUnknown(found: Found): found is 'absent' | 'shapeless' {
  return found === 'absent' || found === 'shapeless';
}
