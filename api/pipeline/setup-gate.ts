// Lets requests in only when the first-run setup is done and this process knows what others have changed.
import { readInitialized } from '../../storage/control/server.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { RequestGuards } from './guards.ts';

type SetupDeps = Pick<Deps, 'databases' | 'setup' | 'observe'>;

/**
 * Ends the request with `503 uninitialized` before the setup is done, and with `503 unavailable` when the changes of other
 * processes cannot be read. Another process may have done the setup: the database decides. Undefined when there is nothing to
 * wait for.
 */
export function requireReady(
  deps: SetupDeps,
  { cacheSync }: Pick<RequestGuards, 'cacheSync'>,
): Promise<void> | undefined {
  return deps.setup.initialized ? cacheSync.untilFresh() : requireSetup(deps);
}

async function requireSetup(deps: SetupDeps): Promise<void> {
  await refreshSetup(deps);
  if (deps.setup.initialized) return;
  fail('uninitialized', 'the first-run setup is not complete: POST /_/setup with {"password": "..."}');
}

/** Reads from the database whether the setup is done; logs a failure. Setup is done once, in one process. */
export async function refreshSetup({ databases, setup, observe }: SetupDeps): Promise<void> {
  if (setup.initialized) return;
  try {
    setup.initialized = await databases.control.run(readInitialized);
  } catch (error) {
    observe({ type: 'background_failed', task: 'read the setup state', error: String(error) });
  }
}
