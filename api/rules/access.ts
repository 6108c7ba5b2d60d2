// Access rules: decided as far as possible before the body is read and the database is queried. The rest becomes
// conditions of SQL statements.
import type { Databases } from '../../storage/connections/databases.ts';
import type { Action, AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import type { FilterRecord } from '../../storage/app/filter/column-value.ts';
import { compilePredicate, type FilterSubject } from '../../storage/app/filter/evaluate.ts';
import { fold, foldEarly, isClosed, type Residue } from '../../storage/app/filter/fold.ts';
import { withinBudget } from '../../storage/app/filter/work-budget.ts';
import type { RequestPrincipal, RequestValues } from '../../storage/app/filter/request.ts';
import { fail } from '../errors.ts';
import { bypassesRules, type Principal } from '../scope.ts';
import { callerMembersIn, membersOfGetRules } from './caller-members.ts';
import { type CallerLookup, callerLookup, membersNeeded, visibleProfiles } from './callers.ts';
import { compiledRule } from './compile.ts';
import { type KeyReads, readsOfKey, requireKeyAction } from './key-access.ts';

/** A request to an action that has a rule. */
export interface AccessRequest {
  principal: Principal | null;
  now: Date;
  /** The query parameters, the first value of each. */
  query: Readonly<Record<string, string>>;
}

/** A collection and the app that it is in. */
export interface RuledTarget {
  app: AppDefinition;
  collection: CollectionDefinition;
}

/** The dependencies of rules that read more of the caller than its token has. */
export interface AccessDeps {
  databases: Pick<Databases, 'app' | 'control'>;
  /** Takes the place of the databases where many callers are checked together. */
  callers?: CallerLookup | undefined;
}

/** A request that a rule has admitted so far. */
export interface Access extends KeyReads {
  readonly action: Action;
  /** True for an admin of the app, whom no rule restricts. */
  readonly unbounded: boolean;
  readonly request: Omit<RequestValues, 'body'>;
  /** The facts about the caller that were looked up for it, as text; undefined when none are needed. */
  readonly facts?: string;
  /** Files that came with the request, which its caller may put into fields. */
  readonly uploaded?: ReadonlySet<string> | undefined;
  /** The residue that does not depend on the body, with its rule, which may have changed since. */
  readonly settled?: { readonly condition: Condition; readonly residue: Residue };
}

const methods: Record<Action, string> = {
  list: 'GET',
  get: 'GET',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};

const noBody: RequestValues['body'] = {};

/**
 * Admits a caller unless the rule refuses it for every body and all data. Throws `401` for a caller without a token, `403`
 * for one with a token.
 */
export function admit(
  deps: AccessDeps,
  target: RuledTarget,
  action: Action,
  asking: AccessRequest,
): Access | Promise<Access> {
  const { principal } = asking;
  const place = { workspace: target.app.workspace.id, app: target.app.id };
  if (bypassesRules(principal, place)) {
    requireKeyAction(principal, action, target);
    return principal !== null && writesEmail(asking)
      ? admitAdmin(deps, { action, asking, principal })
      : accessOf(action, asking, principal, true);
  }
  const members = principal === null ? [] : membersNeeded(target, action, asking.query);
  return principal !== null && members.length > 0
    ? admitUser(deps, target, { action, asking, principal, members })
    : decided(target, accessOf(action, asking, principal, false));
}

/** The access of the server itself, which no rule restricts: hooks act with the rights of an admin. */
export function unboundedAccess(action: Action, now: Date): Access {
  return accessOf(action, { principal: null, now, query: {} }, null, true);
}

/** The access of a caller to what is not a record itself: it admits by the `get` rules of records (`related.ts`). */
export async function relatedAccess(
  deps: AccessDeps,
  app: AppDefinition,
  asking: AccessRequest,
): Promise<Access> {
  const { principal } = asking;
  if (bypassesRules(principal, { workspace: app.workspace.id, app: app.id })) {
    return accessOf('get', asking, principal, true);
  }
  const members = membersOfGetRules(app);
  return principal !== null && members.length > 0
    ? await factualAccess(deps, app, { action: 'get', asking, principal, members })
    : accessOf('get', asking, principal, false);
}

interface Admission {
  action: Action;
  asking: AccessRequest;
  principal: Principal;
}

async function admitAdmin(
  { databases, callers = callerLookup(databases) }: AccessDeps,
  { action, asking, principal }: Admission,
): Promise<Access> {
  const email = await callers.ofAdmin(principal.key?.maker.id ?? principal.id);
  return accessOf(action, asking, { id: principal.id, role: principal.role, email }, true);
}

/** The admission of an end-user, of whom these members are needed. */
interface UserAdmission extends Admission {
  members: readonly string[];
}

async function admitUser(
  deps: AccessDeps,
  target: RuledTarget,
  admission: UserAdmission,
): Promise<Access> {
  return decided(target, await factualAccess(deps, target.app, admission));
}

async function factualAccess(
  { databases, callers = callerLookup(databases) }: AccessDeps,
  app: AppDefinition,
  { action, asking, principal: { id, role }, members }: UserAdmission,
): Promise<Access> {
  const facts = await callers.ofUser(app, id, members);
  const access = accessOf(action, asking, { id, role, ...facts }, false);
  const { auth } = access.request;
  const own = callerMembersIn(asking.query['filter']).filter((name) => name.startsWith('profile.'));
  if (auth !== null && own.length > 0) {
    auth.visibleProfiles = await visibleProfiles(databases, app, {
      auth,
      request: access.request,
      members: own,
    });
  }
  return { ...access, facts: JSON.stringify(auth) };
}

/** True when the caller's own filter may read its email. */
function writesEmail({ query }: AccessRequest): boolean {
  return query['filter']?.includes('email') === true;
}

function accessOf(
  action: Action,
  { now, query, principal: caller }: AccessRequest,
  principal: RequestPrincipal | null,
  unbounded: boolean,
): Access {
  const auth = principal === null ? null : authOf(principal);
  const request = { now: now.getTime(), auth, method: methods[action], query };
  return { action, unbounded, request, ...readsOfKey(caller) };
}

/** Leaves out what the principal lacks: a member that is there, but undefined, would be null. */
function authOf({ id, role, email, verified, created_at, profiles }: RequestPrincipal): RequestPrincipal {
  return {
    id,
    role,
    ...email !== undefined && { email },
    ...verified !== undefined && { verified },
    ...created_at !== undefined && { created_at },
    ...profiles && { profiles },
  };
}

function decided({ app, collection }: RuledTarget, access: Access): Access {
  const { condition } = compiledRule(app, collection, access.action);
  const residue = foldEarly(condition, access.request);
  if (residue.kind === 'constant' && !residue.passes) refuse(access);
  return isClosed(residue) ? { ...access, settled: { condition, residue } } : access;
}

/**
 * The residue of the rule, which the database must decide; undefined when the rule admits the request. Throws `401` or
 * `403` when it refuses the request, `400 validation` when the body is too large for the rule.
 */
export function ruleResidue(
  access: Access,
  { app, collection }: RuledTarget,
  body: RequestValues['body'] = noBody,
): Residue | undefined {
  const { action, unbounded, request, settled } = access;
  if (unbounded) return undefined;
  const { condition } = compiledRule(app, collection, action);
  const residue = settled?.condition === condition
    ? settled.residue
    : withinBudget((budget) => fold(condition, { ...request, body }, budget)) ?? failTooLarge();
  if (residue.kind !== 'constant') return residue;
  return residue.passes ? undefined : refuse(access);
}

function failTooLarge(): never {
  fail('validation', 'the body is too large: its access rule would look at over 16,777,216 characters');
}

/**
 * The rule as a predicate over records in memory, for realtime. It selects the same records as the residue does in SQL.
 * `now` is the time of evaluation, in milliseconds since 1970. Throws as a `Predicate` does.
 */
export function rulePredicate(
  { action, unbounded, request }: Access,
  { app, collection }: RuledTarget,
): (subject: FilterSubject, now: number) => boolean {
  if (unbounded) return () => true;
  const predicate = compilePredicate(compiledRule(app, collection, action).condition);
  return (subject, now) => predicate(subject, { ...request, now, body: noBody }) === true;
}

/**
 * The rule as a check of a record that has been read; undefined when the database must evaluate it. The check returns
 * undefined for a record that is too long, which the database must check, too.
 */
export function memoryCheck(
  { action, unbounded, request }: Access,
  { app, collection }: RuledTarget,
): ((record: FilterRecord) => boolean | undefined) | undefined {
  if (unbounded) return undefined;
  const { checkInMemory } = compiledRule(app, collection, action);
  const asked = { ...request, body: noBody };
  return checkInMemory &&
    ((record) => withinBudget((budget) => checkInMemory({ record, budget }, asked) === true));
}

/** Throws `401` for a caller without a token, `403` for one with a token. */
export function refuse({ request }: Access): never {
  if (request.auth !== null) {
    fail('forbidden', 'the access rule does not admit this');
  }
  fail('unauthorized', 'the access rule asks for an access token: Authorization: Bearer <token>');
}
