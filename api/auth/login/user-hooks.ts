// Runs the hooks of users before registrations and after logins.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import type { AppUserHooks, UserEntry, UserHooks } from './ports.ts';

/** The dependencies of hooks of users. */
export type UserHooksDeps = Pick<Deps, 'definitions'> & { hooks: UserHooks };

/** The hooks that run before somebody registers by an app; undefined when there are none, no app, or none of that id. */
export async function hooksBeforeRegister(
  deps: UserHooksDeps,
  workspace: WorkspaceDefinition,
  app: string | undefined,
): Promise<AppUserHooks['beforeRegister']> {
  const found = app === undefined ? undefined : await deps.definitions.app(workspace.id, app);
  return found === undefined ? undefined : (await deps.hooks.getUserHooks(found)).beforeRegister;
}

/** Runs the hooks of an app after a login to it. Never throws. */
export async function runLoginHooks(
  deps: UserHooksDeps,
  workspace: WorkspaceDefinition,
  { app, ...entry }: UserEntry & { app: string | undefined },
): Promise<void> {
  const found = app === undefined ? undefined : await deps.definitions.app(workspace.id, app);
  if (found === undefined) return;
  // The user is logged in, whatever is wrong with the hooks.
  const hooks = await deps.hooks.getUserHooks(found).catch(() => undefined);
  await hooks?.afterLogin?.(entry);
}
