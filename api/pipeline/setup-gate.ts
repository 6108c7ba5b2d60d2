// Until the first-run setup is complete, almost every route answers 503.
import { fail } from '../errors.ts';

/** Ends the request with `503 uninitialized` unless setup is done or the route is one of the few open before it. */
export function requireSetup(setup: { initialized: boolean }, beforeSetup: boolean): void {
  if (setup.initialized || beforeSetup) return;
  fail('uninitialized', 'the first-run setup is not complete: POST /_/setup with {"password": "..."}');
}
