// Related records: those that a caller reads through another record, each under the `get` rule of its collection.
import type { AppDefinition } from '../../storage/definition.ts';
import { compilePredicate, type FilterSubject, type Predicate } from '../../storage/app/filter/evaluate.ts';
import { fold, type Residue } from '../../storage/app/filter/fold.ts';
import type { RequestPrincipal } from '../../storage/app/filter/request.ts';
import { type Condition, isOwnStep, stepsIn } from '../../storage/app/filter/condition.ts';
import { usersId } from '../../storage/workspace/identities.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { fail } from '../errors.ts';
import type { Access } from './access.ts';
import { compiledRule } from './compile.ts';

const nobody: Residue = { kind: 'constant', passes: false };
const everybody: Residue = { kind: 'constant', passes: true };

/**
 * The conditions under which this caller can see related records: the `get` rule of their collection; of `users`, only the
 * caller itself; of an API key, its scopes. Undefined for an admin, who can see all.
 */
export function relatedGuard(
  { unbounded, reads, request }: Access,
  app: AppDefinition,
): ((target: string) => Residue) | undefined {
  if (reads !== undefined) return (target) => reads(app, target) ? everybody : nobody;
  if (unbounded) return undefined;
  const asked = { ...request, method: 'GET', body: {} };
  return (target) => {
    if (target === usersId) return oneself(request.auth);
    const collection = app.collections.get(target);
    return collection === undefined ? nobody : fold(compiledRule(app, collection, 'get').condition, asked);
  };
}

/**
 * Refuses a filter of an API key that follows a relation to records which the key may not read. Throws `403 forbidden`.
 */
export function requireReachable({ reads }: Access, app: AppDefinition, condition: Condition): void {
  if (reads === undefined) return;
  for (const step of stepsIn(condition)) {
    if (isOwnStep(step) || reads(app, step.target)) continue;
    fail('forbidden', `this API key does not have the scope records:read for ${step.target}`);
  }
}

/** True when a caller can see a related record. `now` and the errors are those of `rulePredicate`. */
export type CanSee = (target: string, subject: FilterSubject, now: number) => boolean;

/** The conditions of `relatedGuard` as a check in memory. Undefined for an admin, who can see all. */
export function canSeeCheck({ unbounded, request }: Access, app: AppDefinition): CanSee | undefined {
  if (unbounded) return undefined;
  const asked = { ...request, method: 'GET', body: {} };
  const predicates = new Map<string, Predicate>();
  return (target, subject, now) => {
    if (target === usersId) {
      return request.auth !== null && subject.record.id === request.auth.id.toLowerCase();
    }
    const collection = app.collections.get(target);
    if (collection === undefined) return false;
    const predicate = predicates.get(target) ??
      compilePredicate(compiledRule(app, collection, 'get').condition);
    predicates.set(target, predicate);
    return predicate(subject, { ...asked, now }) === true;
  };
}

function oneself(auth: RequestPrincipal | null): Residue {
  if (auth === null || !isUuid(auth.id)) return nobody;
  return {
    kind: 'compare',
    operator: '=',
    left: { kind: 'column', level: 0, hops: [], column: 'id', type: 'uuid', path: [] },
    right: { kind: 'value', type: 'uuid', value: auth.id.toLowerCase() },
    negated: false,
  };
}
