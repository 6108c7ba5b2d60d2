// Emails of the callers whose subscriptions are re-authorized: read once, for many users in one query.
import type { Databases } from '../../../storage/connections/databases.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { findUserEmails } from '../../../storage/workspace/user-email.ts';
import { type EmailLookup, emailLookup } from '../../rules/emails.ts';
import type { Reauthorization } from '../ports.ts';

/** Users in one query. */
const maxAtOnce = 500;

/** Caches emails for one run of re-authorizations. A failed query is not cached. */
export class ReauthorizationEmails implements EmailLookup {
  readonly #databases: Pick<Databases, 'app' | 'control'>;
  readonly #reauthorization: Reauthorization;
  readonly #admins = new Map<string, string | undefined>();
  readonly #users = new Map<string, string | undefined>();

  constructor(databases: Pick<Databases, 'app' | 'control'>, reauthorization: Reauthorization) {
    this.#databases = databases;
    this.#reauthorization = reauthorization;
  }

  async ofAdmin(id: string): Promise<string | undefined> {
    if (!this.#admins.has(id)) this.#admins.set(id, await emailLookup(this.#databases).ofAdmin(id));
    return this.#admins.get(id);
  }

  async ofUser(app: AppDefinition, id: string): Promise<string | undefined> {
    if (!this.#users.has(id)) await this.#findWith(app, id);
    return this.#users.get(id);
  }

  /** Reads the email of a user, and those of the users that wait behind it. */
  async #findWith({ workspace, schema }: AppDefinition, id: string): Promise<void> {
    const ids = new Set([id]);
    for (const caller of this.#reauthorization.callers()) {
      if (ids.size === maxAtOnce) break;
      if (caller.role === 'user' && !this.#users.has(caller.id)) ids.add(caller.id);
    }
    const found = await this.#databases.app(workspace.database, schema)
      .run((sql) => findUserEmails(sql, [...ids]));
    for (const each of ids) this.#users.set(each, found.get(each));
  }
}
