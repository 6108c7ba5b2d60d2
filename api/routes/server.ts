// The server itself: is it alive, is it ready, is it set up.
import { route } from '../contract/route.ts';
import { boolean, object, oneOf } from '../contract/schema.ts';
import { checkReadiness } from '../process/readiness.ts';

/** Alive, whatever else is wrong; does no work, so that it cannot be used for load. */
export const healthz = route({
  method: 'GET',
  path: '/healthz',
  summary: 'Shows that the process responds, and if the server has been set up.',
  scope: 'open',
  beforeSetup: true,
  status: 200,
  response: object({ initialized: boolean() }),
  handle: ({ deps }) => ({ initialized: deps.setup.initialized }),
});

/** Readiness: the database responds. */
export const readyz = route({
  method: 'GET',
  path: '/readyz',
  summary:
    'Checks the database: 200 if it responds, otherwise 503. `sandbox` is the sandbox level of hooks, `hook_shares` what keeps them within their shares: the kernel (control groups), the supervisor, or nobody.',
  scope: 'open',
  beforeSetup: true,
  status: 200,
  response: object({
    ready: boolean(),
    database: oneOf(['ok']),
    sandbox: oneOf(['os', 'deno', 'none']),
    hook_shares: oneOf(['kernel', 'supervisor', 'none']),
  }),
  errors: ['unavailable'],
  handle: ({ deps }) => checkReadiness(deps),
});
