// The port through which registrations and logins use hooks, which stand above them.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { LoginMethod } from '../../../storage/workspace/one-time-tokens.ts';
import type { UserRow } from '../../../storage/workspace/user-accounts.ts';

/** A user who comes in. */
export interface UserEntry {
  user: Pick<UserRow, 'id' | 'email' | 'verified'>;
  method: LoginMethod;
  requestId: string;
}

/** The hooks of users of one app, as they are now. */
export interface AppUserHooks {
  /** Undefined when there are none. Throws `400 hook_veto`, `500 hook_error`, `503 hook_busy` or `hook_unavailable`. */
  beforeRegister: ((entry: UserEntry) => Promise<void>) | undefined;
  /** Undefined when there are none. Resolves when they have ended, and never throws. */
  afterLogin: ((entry: UserEntry) => Promise<void>) | undefined;
}

/** Hooks as registrations and logins see them. */
export interface UserHooks {
  /** Throws `503 hook_unavailable` or `500 hook_error` when they cannot be known: nobody may be registered then. */
  getUserHooks(app: AppDefinition): Promise<AppUserHooks>;
}
