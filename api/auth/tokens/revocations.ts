// Revocations in memory: loaded at the start, kept in step with every other process, asked on each request.
import { setTimeout as pause } from 'node:timers/promises';
import type { Databases } from '../../../storage/connections/databases.ts';
import { uuidTime, withUuidTime } from '../../../storage/sql/ids.ts';
import {
  listRevocations,
  pruneRevocations,
  type RevocationKind,
  type RevocationRow,
  type RevocationScope,
} from '../../../storage/control/revocations.ts';
import { logFailure, type Observe } from '../../logging/events.ts';
import type { CallerRole, Principal } from '../../scope.ts';
import type { IssuedToken } from './claims.ts';

interface RevocationsOptions {
  databases: Databases;
  now: () => Date;
  newId: () => string;
  observe: Observe;
  /** The longest that an access token may live, in milliseconds. */
  maxTokenLifeMs: number;
}

const retryMs = 250;
const sweepMs = 300_000;

/**
 * The revocations. A feature writes rows in its transaction (`insertRevocations` with rows made here once the rows that
 * they follow from are changed) and calls `apply` after the commit; other processes hear of the commit.
 */
export class Revocations {
  readonly #options: RevocationsOptions;
  readonly #rows: Record<RevocationKind, Map<string, RevocationRow>> = {
    jti: new Map(),
    subject: new Map(),
    scope: new Map(),
    workspace: new Map(),
    app: new Map(),
  };
  readonly #sweep: NodeJS.Timeout;
  #version = 0;
  /** The latest instant up to which anything is revoked, in milliseconds. */
  #latest = 0;
  /** When the newest row that was read was written, by the database's clock. */
  #newest: Date | undefined;
  #loading: Promise<void> | undefined;
  #wanted: 'nothing' | 'new' | 'all' = 'nothing';
  #closed = false;

  constructor(options: RevocationsOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => void this.#prune(), sweepMs);
    this.#sweep.unref();
  }

  /** Grows whenever something is revoked: a judgement made at this version still holds. */
  get version(): number {
    return this.#version;
  }

  /**
   * A revocation as of this instant, to be made inside the transaction, after the row that it follows from was locked:
   * then a token that somebody is being issued from the old row has an earlier id.
   */
  row(kind: RevocationKind, key: string, scope: RevocationScope | null = null): RevocationRow {
    const instant = this.instant();
    return {
      kind,
      key,
      not_before: instant,
      scope,
      expires_at: new Date(instant.getTime() + this.#options.maxTokenLifeMs),
    };
  }

  /**
   * A v7 UUID for a session. Its time is later than all that is revoked, which was perhaps written by a clock that was
   * ahead and has been set back since: whoever logs in now has a token that is good.
   */
  newId(): string {
    const id = this.#options.newId();
    return uuidTime(id) > this.#latest ? id : withUuidTime(id, this.#latest + 1);
  }

  /** Now, but never before an id that was already given out, even if the clock was set back. */
  instant(): Date {
    return new Date(uuidTime(this.newId()));
  }

  /** Makes committed rows count in this process. */
  apply(rows: readonly RevocationRow[]): void {
    for (const row of rows) {
      this.#latest = Math.max(this.#latest, row.not_before.getTime());
      const known = this.#rows[row.kind].get(row.key);
      if (known !== undefined && (known.not_before > row.not_before || isSame(known, row))) continue;
      this.#rows[row.kind].set(row.key, row);
      this.#version++;
    }
  }

  /** The principal of a token, perhaps with other rights by now; undefined when it is revoked. */
  judge(token: IssuedToken): Principal | undefined {
    const { principal, issuedAt } = token;
    const { jti, id, workspace } = principal;
    if (this.#rows.jti.has(jti)) return undefined;
    const subject = this.#rows.subject.get(id);
    if (subject !== undefined && issuedAt <= subject.not_before.getTime() && subject.scope?.spared !== jti) {
      return undefined;
    }
    if (this.#hasLostImpersonator(token)) return undefined;
    if (workspace === undefined) return principal;
    const place = this.#rows.workspace.get(workspace);
    if (place !== undefined && issuedAt <= place.not_before.getTime()) return undefined;
    return this.#withoutLostApps(...this.#rescoped(token));
  }

  /** Reads what other processes have written, and comes again until it could. */
  async catchUp(): Promise<void> {
    if (this.#wanted === 'nothing') this.#wanted = 'new';
    await this.#keepLoading();
  }

  /** Reads everything again: a message may have been missed. */
  async reload(): Promise<void> {
    this.#wanted = 'all';
    await this.#keepLoading();
  }

  /** Resolves once nothing is being read any more. */
  async caughtUp(): Promise<void> {
    await this.#loading;
  }

  /** Stops looking. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#sweep);
  }

  /** The principal with the rights that an admin has been given since, and as of when these hold. */
  #rescoped({ principal, narrowed, issuedAt }: IssuedToken): [Principal, number] {
    const change = this.#rows.scope.get(principal.id);
    if (change === undefined || issuedAt > change.not_before.getTime()) return [principal, issuedAt];
    const { apps: old, ...rest } = principal;
    const { role = principal.role, apps } = change.scope ?? {};
    const left = narrowed ? old?.filter((app) => apps === undefined || apps.includes(app)) : apps;
    const next: Principal = { ...rest, role: narrowed ? principal.role : readRole(role, principal.role) };
    if (left !== undefined) next.apps = left;
    return [next, narrowed ? issuedAt : change.not_before.getTime()];
  }

  /** True when the admin behind the token was removed, has another password or other rights since. */
  #hasLostImpersonator({ principal: { impersonator }, issuedAt }: IssuedToken): boolean {
    if (impersonator === undefined) return false;
    const { subject, scope } = this.#rows;
    return [subject, scope].some((rows) =>
      issuedAt <= (rows.get(impersonator.id)?.not_before.getTime() ?? -Infinity)
    );
  }

  #withoutLostApps(principal: Principal, since: number): Principal {
    const { apps, workspace } = principal;
    if (apps === undefined || this.#rows.app.size === 0) return principal;
    const left = apps.filter((app) => {
      const gone = this.#rows.app.get(`${workspace}/${app}`);
      return gone === undefined || since > gone.not_before.getTime();
    });
    return left.length === apps.length ? principal : { ...principal, apps: left };
  }

  async #keepLoading(): Promise<void> {
    this.#loading ??= this.#load().finally(() => this.#loading = undefined);
    await this.#loading;
  }

  async #load(): Promise<void> {
    const { databases, observe, now } = this.#options;
    while (this.#wanted !== 'nothing' && !this.#closed) {
      const wanted = this.#wanted;
      this.#wanted = 'nothing';
      const since = wanted === 'all' ? undefined : this.#newest;
      try {
        const rows = await databases.control.run((sql) => listRevocations(sql, { now: now(), since }));
        this.apply(rows);
        for (const { created_at } of rows) {
          if (this.#newest === undefined || created_at > this.#newest) this.#newest = created_at;
        }
      } catch (error) {
        observe({ type: 'background_failed', task: 'read revocations', error: String(error) });
        this.#wanted = wanted;
        await pause(retryMs);
      }
    }
  }

  async #prune(): Promise<void> {
    const { databases, now } = this.#options;
    for (const rows of Object.values(this.#rows)) {
      for (const [key, { expires_at }] of rows) if (expires_at <= now()) rows.delete(key);
    }
    await databases.control.run((sql) => pruneRevocations(sql, now()))
      .catch(logFailure(this.#options, 'prune revocations'));
  }
}

function readRole(name: string, otherwise: CallerRole): CallerRole {
  return name === 'workspace_admin' || name === 'app_admin' ? name : otherwise;
}

function isSame(a: RevocationRow, b: RevocationRow): boolean {
  return a.not_before.getTime() === b.not_before.getTime() &&
    JSON.stringify(a.scope) === JSON.stringify(b.scope);
}
