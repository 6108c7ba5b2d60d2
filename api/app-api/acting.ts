// The caller that a call of `$app` acts for: the app itself, or with `$app.as` a caller under the access rules.
import type { ActingAs } from '../../hook-runner/calls.ts';
import type { Action, AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { fail, failValidation } from '../errors.ts';
import type { CallContext } from '../hooks/pool/generation.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import type { RecordTarget } from '../records/collection.ts';
import { type Access, admit, unboundedAccess } from '../rules/access.ts';
import type { Principal } from '../scope.ts';
import { findUserRecord } from '../users/records.ts';

/** A call of hook code: its app, its run, and for whom it acts. */
export interface CallScope {
  deps: Deps;
  app: AppDefinition;
  context: CallContext;
  /** Undefined for the app itself. */
  as?: ActingAs | undefined;
}

/** The rights of a call about records. */
export interface Acting {
  principal: Principal | null;
  isUnbounded: boolean;
  /** Throws `401` or `403` when the rule refuses the caller whatever the data are. `query` is that of the request. */
  admit(target: RecordTarget, action: Action, query?: Record<string, unknown>): Access | Promise<Access>;
  caller: RecordCaller;
}

/** Roles that pass every rule of the app, as hook code does by itself. */
const unboundedRoles = ['hook', 'app_admin', 'workspace_admin', 'master_admin'];

/**
 * The rights of a call about records. An admin, whose role hook code may have made up, has those of the app and no name: else
 * hook code could read of any admin of the server what `@request.auth` has. An end-user has to exist in the workspace. Throws
 * `401 unauthorized` for one who does not, `400 validation` for an unknown role.
 */
export async function actingFor({ deps, app, context, as }: CallScope): Promise<Acting> {
  if (as === undefined || as !== null && unboundedRoles.includes(as.role)) {
    return {
      ...{ principal: null, isUnbounded: true },
      admit: (_target, action) => unboundedAccess(action, deps.now()),
      caller: callerOf(context),
    };
  }
  const principal = as === null ? null : await findPrincipal(deps, app, as);
  return {
    ...{ principal, isUnbounded: false },
    admit: (target, action, query = {}) =>
      admit(deps, target, action, { principal, now: deps.now(), query: asParameters(query) }),
    caller: { ...callerOf(context), principal, isForPrincipal: true, ...stillAdmitted(deps, principal) },
  };
}

/** The caller of a write by hook code. */
export function callerOf({ requestId, depth, deadline, withoutSlot }: CallContext): RecordCaller {
  return { principal: null, requestId, hook: { depth: depth + 1, deadline, withoutSlot } };
}

async function findPrincipal(
  deps: Pick<Deps, 'databases' | 'newId'>,
  app: AppDefinition,
  { id, role, app: only }: NonNullable<ActingAs>,
): Promise<Principal> {
  if (role !== 'user') failValidation([{ field: 'role', reason: 'is not a role that $app.as knows' }]);
  const user = await findUserRecord(deps, app, id) ?? fail('unauthorized', 'there is no user of this id');
  const apps = only === null ? {} : { apps: [app.id] };
  return {
    ...{ id: user.id, role, workspace: app.workspace.id, jti: deps.newId(), issuedAt: 0, expiresAt: 0 },
    ...apps,
  };
}

/** A user who is removed while hooks of the write run may not write any more. */
function stillAdmitted(
  { revocations }: Pick<Deps, 'revocations'>,
  principal: Principal | null,
): Pick<RecordCaller, 'requireStillAdmitted'> {
  if (principal === null) return {};
  const issued = { principal, narrowed: false, issuedAt: revocations.instant().getTime() };
  return {
    requireStillAdmitted: () => {
      if (revocations.judge(issued) === undefined) fail('unauthorized', 'the access of the user was revoked');
    },
  };
}

/** The query as rules and filters know that of a request. */
function asParameters(query: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
