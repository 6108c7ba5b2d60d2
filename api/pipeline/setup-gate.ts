// What must hold before a request is let in: the first-run setup is complete, and what others have changed is known.
import { readInitialized } from '../../storage/control/server.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { RequestGuards } from './guards.ts';

type SetupDeps = Pick<Deps, 'databases' | 'setup' | 'observe'>;

/**
 * Ends the request with `503 uninitialized` unless setup is done, of which another process may know and the database has the
 * last word; and with `503 unavailable` when what others have changed cannot be known. A promise only where something is
 * waited for.
 */
export function requireReady(
  deps: SetupDeps,
  { cacheSync }: Pick<RequestGuards, 'cacheSync'>,
): Promise<void> | undefined {
  return deps.setup.initialized ? cacheSync.untilFresh() : refuseUnlessSetUp(deps);
}

async function refuseUnlessSetUp(deps: SetupDeps): Promise<void> {
  await refreshSetup(deps);
  if (deps.setup.initialized) return;
  fail('uninitialized', 'the first-run setup is not complete: POST /_/setup with {"password": "..."}');
}

/** Setup is done once, in one process; the others learn of it here. */
export async function refreshSetup({ databases, setup, observe }: SetupDeps): Promise<void> {
  if (setup.initialized) return;
  try {
    setup.initialized = await databases.control.run(readInitialized);
  } catch (error) {
    observe({ type: 'background_failed', task: 'read the setup state', error: String(error) });
  }
}
