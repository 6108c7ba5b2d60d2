// The origins whose pages may call the API: with bearer tokens by a setting, with cookies by the lists of workspaces.
import { setTimeout as pause } from 'node:timers/promises';
import { listWorkspaceOrigins } from '../../../storage/control/workspace-origins.ts';
import type { Databases } from '../../../storage/connections/databases.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import { canonicalOrigin } from '../../http/hosts/origins.ts';
import type { Observe } from '../../logging/events.ts';

/** What the pages of an origin may do besides what anyone may. */
export type OriginRights = 'none' | 'bearer' | 'cookies';

interface AllowedOriginsOptions {
  config: Pick<Config, 'cors'>;
  databases: Databases;
  observe: Observe;
}

const retryMs = 250;

/** The lists in memory. They are read at the start and whenever a workspace has changed. */
export class AllowedOrigins {
  readonly #deps: AllowedOriginsOptions;
  readonly #bearer: ReadonlySet<string>;
  /** The workspaces of each origin. */
  #workspaces: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #loading: Promise<void> | undefined;
  #isStale = false;
  #closed = false;

  constructor(deps: AllowedOriginsOptions) {
    this.#deps = deps;
    this.#bearer = new Set(
      deps.config.cors.allowed_origins.map((origin) => canonicalOrigin(origin) ?? origin),
    );
  }

  /** True while no other origin than the server's own may call the API. */
  get isEmpty(): boolean {
    return this.#bearer.size === 0 && this.#workspaces.size === 0;
  }

  /** The rights of an origin at a path of this workspace, or at one of none, where those of any of its workspaces count. */
  rightsAt(origin: string, workspace: string | undefined): OriginRights {
    if (this.isEmpty) return 'none';
    const name = canonicalOrigin(origin) ?? origin;
    const workspaces = this.#workspaces.get(name);
    if (workspaces !== undefined && (workspace === undefined || workspaces.has(workspace))) return 'cookies';
    return this.#bearer.has(name) ? 'bearer' : 'none';
  }

  /** True when a cookie with a token of this workspace counts from the origin. A master's, which has none, never does. */
  allowsCookieOf(workspace: string | undefined, origin: string): boolean {
    return workspace !== undefined && this.rightsAt(origin, workspace) === 'cookies';
  }

  /** Reads the lists of all workspaces, and tries again until it could. */
  async reload(): Promise<void> {
    this.#isStale = true;
    this.#loading ??= this.#load().finally(() => this.#loading = undefined);
    await this.#loading;
  }

  /** Resolves once nothing is being read any more. */
  async caughtUp(): Promise<void> {
    await this.#loading;
  }

  /** Stops to read. */
  close(): void {
    this.#closed = true;
  }

  async #load(): Promise<void> {
    const { databases, observe } = this.#deps;
    while (this.#isStale && !this.#closed) {
      this.#isStale = false;
      try {
        const byOrigin = new Map<string, Set<string>>();
        for (const { id, origins } of await databases.control.run(listWorkspaceOrigins)) {
          for (const origin of origins) byOrigin.set(origin, (byOrigin.get(origin) ?? new Set()).add(id));
        }
        this.#workspaces = byOrigin;
      } catch (error) {
        observe({ type: 'background_failed', task: 'read origins', error: String(error) });
        this.#isStale = true;
        await pause(retryMs);
      }
    }
  }
}
