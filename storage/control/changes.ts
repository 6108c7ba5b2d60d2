// What processes tell one another over LISTEN/NOTIFY on the control database, so that their caches agree.
import { Client } from '../connections/client.ts';
import { translate } from '../errors.ts';
import { Outage } from '../connections/outage.ts';
import type { Endpoint, Sql } from '../connections/pool.ts';

/** Something that another process may have in memory has changed. */
export type Change =
  /** A workspace was renamed or removed. */
  | { kind: 'workspace'; workspace: string }
  /** An app, or a collection or rule of it, was changed or removed. */
  | { kind: 'app'; workspace: string; app: string }
  /** A policy was set or removed: at the system, or at this workspace or an app of it. */
  | { kind: 'policies'; workspace?: string }
  /** What the hooks of an app are made of has changed. */
  | { kind: 'hooks'; workspace: string; app: string }
  /** The hooks of an app have other scheduled jobs. */
  | { kind: 'jobs'; workspace: string; app: string }
  /** Tokens were revoked, or an admin's rights changed. */
  | { kind: 'revocations' }
  /** The first-run setup is complete. */
  | { kind: 'setup' };

const channel = 'bulkhead_changed';

/** Tells every process. Inside a transaction the message leaves with its commit, and not without it. */
export async function notifyChange(sql: Sql, change: Change): Promise<void> {
  await sql`select pg_notify(${channel}, ${JSON.stringify(change)})`;
}

/** Tells every process that something may have changed of which nobody was told. */
export async function notifyResync(sql: Sql): Promise<void> {
  await sql`select pg_notify(${channel}, ${JSON.stringify({ kind: 'gap' })})`;
}

/** What a listener does. */
export interface ChangeHandlers {
  onChange: (change: Change) => void;
  /** Changes may have been missed: what is in memory must be read again. Called when listening begins, too. */
  onResync: () => void;
}

/** An open LISTEN. */
export interface NotificationListener {
  /**
   * Resolves once all is heard that was published before: no news and no connection sound the same. Rejects while there is
   * no connection, and ends one that stays silent.
   */
  ask(): Promise<void>;
  stop(): Promise<void>;
}

const reopenMs = 100;
/** Of silence after a question. */
const silenceTimeoutMs = 3_000;

/** Listens on a connection of its own, which is opened again whenever it is lost. Throws when it cannot be opened. */
export async function listenForChanges(
  endpoint: Endpoint,
  handlers: ChangeHandlers,
): Promise<NotificationListener> {
  const listener = new Listener(endpoint, handlers);
  try {
    await listener.open();
  } catch (error) {
    await listener.stop();
    throw translate(error);
  }
  return listener;
}

class Listener implements NotificationListener {
  readonly #endpoint: Endpoint;
  readonly #handlers: ChangeHandlers;
  #client: Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(endpoint: Endpoint, handlers: ChangeHandlers) {
    this.#endpoint = endpoint;
    this.#handlers = handlers;
  }

  async open(): Promise<void> {
    const { onChange, onResync } = this.#handlers;
    const client = new Client(this.#endpoint, {
      now: 0,
      onLost: () => this.#reopen(),
      // It keeps its own pace.
      outage: new Outage(),
      silenceTimeoutMs: silenceTimeoutMs,
      onNotify: (payload) => {
        const change = parse(payload);
        if (change === undefined) onResync();
        else onChange(change);
      },
    });
    this.#client = client;
    await client.run((sql) => sql`listen ${sql(channel)}`);
    onResync();
  }

  async ask(): Promise<void> {
    await this.#client?.run((sql) => sql`select`);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#client?.close(1);
  }

  #reopen(): void {
    if (this.#stopped) return;
    this.#retry = setTimeout(() => {
      // Whatever fails, the connection is lost with it, and this is called again.
      this.open().catch(() => 'lost');
    }, reopenMs);
  }
}

/** Undefined for a gap, and for a message that this version does not know: something changed, and it cannot say what. */
function parse(payload: string): Change | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  const workspace = 'workspace' in value && typeof value.workspace === 'string' ? value.workspace : undefined;
  const app = 'app' in value && typeof value.app === 'string' ? value.app : undefined;
  switch (value.kind) {
    case 'workspace':
      return workspace === undefined ? undefined : { kind: 'workspace', workspace };
    case 'app':
    case 'hooks':
    case 'jobs':
      return workspace === undefined || app === undefined ? undefined : { kind: value.kind, workspace, app };
    case 'policies':
      return workspace === undefined ? { kind: 'policies' } : { kind: 'policies', workspace };
    case 'revocations':
    case 'setup':
      return { kind: value.kind };
    default:
      return undefined;
  }
}
