// Until the first-run setup is complete, almost every route answers 503.
import { readInitialized } from '../../storage/server.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

type SetupDeps = Pick<Deps, 'databases' | 'setup' | 'observe'>;

/**
 * Ends the request with `503 uninitialized` unless setup is done or the route is one of the few open before it. Another
 * process may have been set up a moment ago, so the database has the last word. A promise only where it is asked.
 */
export function requireSetup(deps: SetupDeps, beforeSetup: boolean): Promise<void> | undefined {
  return deps.setup.initialized || beforeSetup ? undefined : refuseUnlessSetUp(deps);
}

async function refuseUnlessSetUp(deps: SetupDeps): Promise<void> {
  await learnSetup(deps);
  if (deps.setup.initialized) return;
  fail('uninitialized', 'the first-run setup is not complete: POST /_/setup with {"password": "..."}');
}

/** Setup is done once, in one process; the others learn of it here. */
export async function learnSetup({ databases, setup, observe }: SetupDeps): Promise<void> {
  if (setup.initialized) return;
  try {
    setup.initialized = await databases.control.run(readInitialized);
  } catch (error) {
    observe({ type: 'background_failed', task: 'read the setup state', error: String(error) });
  }
}
