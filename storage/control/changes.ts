// Notifications between processes, by LISTEN/NOTIFY on the control database, so that their caches agree.
import { Client } from '../connections/client.ts';
import { translate } from '../errors.ts';
import { Outage } from '../connections/outage.ts';
import type { Endpoint, Sql } from '../connections/pool.ts';

/** A change of something that other processes may have cached. */
export type Change =
  /** A workspace was renamed or removed. */
  | { kind: 'workspace'; workspace: string }
  /** An app, or a collection or rule of it, was changed or removed. */
  | { kind: 'app'; workspace: string; app: string }
  /** A policy was set or removed: at the system, or at this workspace or an app of it. */
  | { kind: 'policies'; workspace?: string }
  /** The hook files of an app were changed. */
  | { kind: 'hooks'; workspace: string; app: string }
  /** The hooks of an app have other scheduled jobs. */
  | { kind: 'jobs'; workspace: string; app: string }
  /** Tokens were revoked, or an admin's rights changed. */
  | { kind: 'revocations' }
  /** A database is to be copied, which is possible only while nobody is connected to it. */
  | { kind: 'release'; database: string }
  /** The first-run setup is complete. */
  | { kind: 'setup' };

const channel = 'bulkhead_changed';

/** Notifies every process. In a transaction, the message is sent with its commit, and not without it. */
export async function notifyChange(sql: Sql, change: Change): Promise<void> {
  await sql`select pg_notify(${channel}, ${JSON.stringify(change)})`;
}

/** Tells every process to read everything again, because changes may have been missed. */
export async function notifyResync(sql: Sql): Promise<void> {
  await sql`select pg_notify(${channel}, ${JSON.stringify({ kind: 'gap' })})`;
}

/** Handlers of a listener. */
export interface ChangeHandlers {
  onChange: (change: Change) => void;
  /** Changes may have been missed, so everything cached must be read again. Also called when listening begins. */
  onResync: () => void;
}

/** An open LISTEN. */
export interface NotificationListener {
  /**
   * Resolves once all changes that were published before have been received: no change and no connection look the same.
   * Rejects without a connection, and closes one that stays silent.
   */
  ping(): Promise<void>;
  stop(): Promise<void>;
}

const reopenMs = 100;
/** The silence after a statement, in milliseconds. */
const silenceTimeoutMs = 3_000;

/** Listens on a connection of its own, which is opened again when it is lost. Throws when it cannot be opened. */
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
      // A state of its own: it has its own pace of attempts.
      outage: new Outage(),
      silenceTimeoutMs,
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

  async ping(): Promise<void> {
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
      // Any failure loses the connection, and then this is called again.
      this.open().catch(() => 'lost');
    }, reopenMs);
  }
}

/** Undefined for a resync, and for a message that this version does not know: something changed. */
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
    case 'release':
      return 'database' in value && typeof value.database === 'string'
        ? { kind: 'release', database: value.database }
        : undefined;
    case 'revocations':
    case 'setup':
      return { kind: value.kind };
    default:
      return undefined;
  }
}
