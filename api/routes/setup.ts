// The first-run setup.
import { wrongPassword } from '../auth/passwords/policy.ts';
import { completeSetup } from '../auth/setup.ts';
import { passwordText } from '../contract/credentials.ts';
import { route } from '../contract/route.ts';
import { object, yes } from '../contract/schema.ts';

/** Sets the master password, once. */
export const setup = route({
  method: 'POST',
  path: '/_/setup',
  summary: 'Sets the server up: sets the password of the master admin `admin`. Works once.',
  scope: 'open',
  beforeSetup: true,
  body: object({ password: passwordText }),
  status: 201,
  response: object({ initialized: yes() }),
  errors: ['conflict', 'unavailable'],
  bodyErrors: wrongPassword('password'),
  handle: async ({ deps, body, origin, now }) => {
    await completeSetup(deps, body.password, { origin, now });
    return { initialized: true };
  },
});
