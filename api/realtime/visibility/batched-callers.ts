// Facts about the callers whose subscriptions are re-authorized: read once, for many users in one query.
import type { Databases } from '../../../storage/connections/databases.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { type CallerFacts, type CallerLookup, callerLookup, findCallers } from '../../rules/callers.ts';
import type { Reauthorization } from '../ports.ts';

/** Users in one query. */
const maxAtOnce = 500;

/** Caches facts for one run of re-authorizations. A failed query is not cached. */
export class BatchedCallers implements CallerLookup {
  readonly #databases: Pick<Databases, 'app' | 'control'>;
  readonly #reauthorization: Reauthorization;
  readonly #admins = new Map<string, string | undefined>();
  /** By the members that are needed, then by id. */
  readonly #users = new Map<string, Map<string, CallerFacts>>();

  constructor(databases: Pick<Databases, 'app' | 'control'>, reauthorization: Reauthorization) {
    this.#databases = databases;
    this.#reauthorization = reauthorization;
  }

  async ofAdmin(id: string): Promise<string | undefined> {
    if (!this.#admins.has(id)) this.#admins.set(id, await callerLookup(this.#databases).ofAdmin(id));
    return this.#admins.get(id);
  }

  async ofUser(app: AppDefinition, id: string, members: readonly string[]): Promise<CallerFacts> {
    const key = members.join();
    const known = this.#users.get(key) ?? new Map<string, CallerFacts>();
    this.#users.set(key, known);
    if (!known.has(id)) await this.#findWith(app, id, members, known);
    return known.get(id) ?? {};
  }

  /** Reads the facts about a user, and about the users that wait behind it. */
  async #findWith(
    app: AppDefinition,
    id: string,
    members: readonly string[],
    known: Map<string, CallerFacts>,
  ): Promise<void> {
    const ids = new Set([id]);
    for (const caller of this.#reauthorization.callers()) {
      if (ids.size === maxAtOnce) break;
      if (caller.role === 'user' && !known.has(caller.id)) ids.add(caller.id);
    }
    const found = await findCallers(this.#databases, app, [...ids], members);
    for (const each of ids) known.set(each, found.get(each) ?? {});
  }
}
