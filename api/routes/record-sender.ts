// The sender of a write of records.
import { requireStillAdmitted } from '../auth/sessions/still-admitted.ts';
import type { RequestOrigin } from '../contract/route.ts';
import type { Deps } from '../deps.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import type { RecordTarget } from '../records/collection.ts';
import type { Principal } from '../scope.ts';

/** The sender of a write, as long as its token is valid. */
export function senderOf(
  { deps, target: { app }, principal, origin: { requestId } }: {
    deps: Deps;
    target: Pick<RecordTarget, 'app'>;
    principal: Principal | null;
    origin: RequestOrigin;
  },
): RecordCaller {
  return { principal, requestId, requireStillAdmitted: () => requireStillAdmitted(deps, app, principal) };
}
