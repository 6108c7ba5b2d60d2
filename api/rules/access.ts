// Access rules: decided as far as possible before the body is read and the database is queried. The rest becomes
// conditions of SQL statements.
import type { Databases } from '../../storage/connections/databases.ts';
import type { Action, AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import {
  compilePredicate,
  type FilterRecord,
  type FilterSubject,
} from '../../storage/app/filter/evaluate.ts';
import { fold, foldEarly, isClosed, type Residue } from '../../storage/app/filter/fold.ts';
import { withinBudget } from '../../storage/app/filter/work-budget.ts';
import type { RequestPrincipal, RequestValues } from '../../storage/app/filter/request.ts';
import { fail } from '../errors.ts';
import { bypassesRules, type Principal } from '../scope.ts';
import { compiledRule, relationsReadEmail } from './compile.ts';
import { type EmailLookup, emailLookup } from './emails.ts';

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

/** The dependencies of rules that read the caller's email. */
export interface AccessDeps {
  databases: Pick<Databases, 'app' | 'control'>;
  /** Takes the place of the databases where many callers are checked together. */
  emails?: EmailLookup | undefined;
}

/** A request that a rule has admitted so far. */
export interface Access {
  readonly action: Action;
  /** True for an admin of the app, whom no rule restricts. */
  readonly unbounded: boolean;
  readonly request: Omit<RequestValues, 'body'>;
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
    return principal !== null && writesEmail(asking)
      ? admitAdmin(deps, { action, asking, principal })
      : accessOf(action, asking, principal, true);
  }
  return principal !== null && needsEmail(target, action, asking)
    ? admitUser(deps, target, { action, asking, principal })
    : decided(target, accessOf(action, asking, principal, false));
}

/** The access of the server itself, which no rule restricts: hooks act with the rights of an admin. */
export function unboundedAccess(action: Action, now: Date): Access {
  return accessOf(action, { principal: null, now, query: {} }, null, true);
}

/** The access of a caller to what is not a record itself: it admits by the `get` rules of records (`related.ts`). */
export async function relatedAccess(
  { databases, emails = emailLookup(databases) }: AccessDeps,
  app: AppDefinition,
  asking: AccessRequest,
): Promise<Access> {
  const { principal } = asking;
  if (bypassesRules(principal, { workspace: app.workspace.id, app: app.id })) {
    return accessOf('get', asking, principal, true);
  }
  const email = principal !== null && relationsReadEmail(app)
    ? await emails.ofUser(app, principal.id)
    : undefined;
  return accessOf('get', asking, principal && { ...principal, email }, false);
}

async function admitAdmin(
  { databases, emails = emailLookup(databases) }: AccessDeps,
  { action, asking, principal }: { action: Action; asking: AccessRequest; principal: Principal },
): Promise<Access> {
  const email = await emails.ofAdmin(principal.id);
  return accessOf(action, asking, { ...principal, email }, true);
}

async function admitUser(
  { databases, emails = emailLookup(databases) }: AccessDeps,
  target: RuledTarget,
  { action, asking, principal }: { action: Action; asking: AccessRequest; principal: Principal },
): Promise<Access> {
  const email = await emails.ofUser(target.app, principal.id);
  return decided(target, accessOf(action, asking, { ...principal, email }, false));
}

/** True when a rule or the caller's own filter may read the email, which tokens do not have. */
function needsEmail({ app, collection }: RuledTarget, action: Action, asking: AccessRequest): boolean {
  if (compiledRule(app, collection, action).readsEmail || writesEmail(asking)) return true;
  const follows = action === 'create' || action === 'update' || asking.query['filter'] !== undefined ||
    asking.query['expand'] !== undefined;
  return follows && relationsReadEmail(app);
}

/** True when the caller's own filter may read its email. */
function writesEmail({ query }: AccessRequest): boolean {
  return query['filter']?.includes('email') === true;
}

function accessOf(
  action: Action,
  { now, query }: AccessRequest,
  principal: RequestPrincipal | null,
  unbounded: boolean,
): Access {
  const auth = principal === null
    ? null
    : { id: principal.id, role: principal.role, ...(principal.email ? { email: principal.email } : {}) };
  return { action, unbounded, request: { now: now.getTime(), auth, method: methods[action], query } };
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
