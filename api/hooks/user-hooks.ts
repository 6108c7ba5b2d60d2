// Hooks of users as registrations and logins call them.
import type { HookRecord } from '../../hook-runner/calls.ts';
import type { EventNameOf, EventPayloads } from '../../hook-runner/events.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import type { AppUserHooks, UserEntry } from '../auth/login/ports.ts';
import type { AppHooks } from './app-hooks.ts';
import type { Actor } from './ports.ts';
import type { Registrations } from './registrations.ts';
import { type HookEvent, refuseBroken, runAfterEvent, runBeforeEvent } from './run-event.ts';

/** The hooks of users of an app that are registered. */
export function makeUserHooks(hooks: AppHooks, registrations: Registrations): AppUserHooks {
  const register = registrations.findUserEvent('before_register');
  const login = registrations.findUserEvent('after_login');
  const { workspace, app } = hooks.path;
  const asEvent = (name: EventNameOf<'user'>, { user, method, requestId }: UserEntry) => {
    const auth = name === 'after_login'
      ? { id: user.id, email: user.email, role: 'user', workspace, app }
      : null;
    const actor: Actor = { auth: () => Promise.resolve(auth), requestId, depth: 0 };
    return userEvent(name, { actor, user, method, profile: null });
  };
  return {
    beforeRegister: register && (async (entry) => {
      if (register.isRefused) await refuseBroken(hooks);
      await runBeforeEvent(hooks, asEvent('before_register', entry));
    }),
    afterLogin: login && ((entry) => runAfterEvent(hooks, asEvent('after_login', entry))),
  };
}

/** An event of a user, with the profile that is created along, if there is one. */
export function userEvent(
  name: EventNameOf<'user'>,
  { actor, user: { id: userId, email, verified }, method, profile }: {
    actor: Actor;
    user: EventPayloads['user']['user'];
    method: EventPayloads['user']['method'];
    profile: StoredRecord | null;
  },
): HookEvent {
  return {
    name,
    collection: null,
    actor,
    write: (id, auth) => ({
      type: 'event',
      id,
      event: name,
      user: { id: userId, email, verified },
      method,
      // Records hold what JSON can say.
      record: profile as HookRecord | null,
      auth,
      request_id: actor.requestId,
    }),
  };
}
