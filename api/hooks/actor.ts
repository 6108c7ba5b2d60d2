// The principal that causes a hook call, as hook code sees it.
import type { HookAuth } from '../../hook-runner/calls.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { principalName } from '../audit/actor.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../scope.ts';
import type { Actor, RecordCaller } from './ports.ts';

type AuthDeps = Pick<Deps, 'databases'>;

const cachedMs = 2_000;
/** Tokens do not say it, and looking it up costs as much as a write. */
const emails = new WeakMap<Principal, { email: Promise<string>; until: number }>();

const server: RecordCaller = { principal: null, requestId: '' };

/** An author with what hooks are told of it, looked up once they ask; without one it is what the server does by itself. */
export function hookActor(deps: AuthDeps, app: AppDefinition, author: RecordCaller = server): Actor {
  const { principal, requestId, hook, isForPrincipal } = author;
  const authOfPrincipal = () => makeHookAuth(deps, app, principal);
  if (hook === undefined) return { requestId, depth: 0, auth: authOfPrincipal };
  const { id, workspace } = app;
  const auth: HookAuth = { id: 'hook', email: '', role: 'hook', workspace: workspace.id, app: id };
  return {
    requestId,
    ...hook,
    auth: isForPrincipal === true ? authOfPrincipal : () => Promise.resolve(auth),
  };
}

/** `e.auth` of a request. */
export async function makeHookAuth(
  deps: AuthDeps,
  app: AppDefinition,
  principal: Principal | null,
): Promise<HookAuth | null> {
  if (principal === null) return null;
  const { id, role, workspace, apps, impersonator, key } = principal;
  const now = performance.now();
  let known = emails.get(principal);
  if (known === undefined || known.until < now) {
    known = { email: findEmail(deps, app, principal), until: now + cachedMs };
    emails.set(principal, known);
  }
  const email = await known.email.catch((error: unknown) => {
    emails.delete(principal);
    throw error;
  });
  return {
    id,
    email,
    role,
    workspace: workspace ?? null,
    app: apps === undefined ? null : app.id,
    ...impersonator && { impersonator: impersonator.id },
    ...key && { maker: { id: key.maker.id, role: key.maker.role } },
  };
}

async function findEmail(
  deps: AuthDeps,
  { workspace: { database }, schema }: AppDefinition,
  principal: Principal,
): Promise<string> {
  const named = principal.key?.maker ?? principal;
  return await principalName(deps, deps.databases.app(database, schema), named) ?? '';
}
