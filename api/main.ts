// The API process: puts its parts together, starts and stops them.
import { setTimeout as pause } from 'node:timers/promises';
import { openBlobs } from '../storage/blobs/open.ts';
import { openStorage, type Storage } from '../storage/boot/boot.ts';
import { notifyResync } from '../storage/control/changes.ts';
import { StorageError } from '../storage/errors.ts';
import { uuidV7Source } from '../storage/sql/ids.ts';
import { readInitialized } from '../storage/control/server.ts';
import { StartRefused } from '../storage/boot/start-refused.ts';
import type { ApiStart, FromApi, ToApi } from '../supervisor/protocol.ts';
import { serveRoutes } from './app.ts';
import { createAudit } from './audit/build.ts';
import { recordSandbox } from './audit/sandbox.ts';
import { createAuth } from './auth/build.ts';
import { createDefinitions } from './collections/cache.ts';
import type { Deps } from './deps.ts';
import { createEgress } from './egress/client.ts';
import { logMissingParts } from './process/missing-parts.ts';
import { type CacheSync, startCacheSync } from './process/cache-sync.ts';
import { handleCall } from './app-api/calls.ts';
import { createHooks, type HookSystem } from './hooks/build.ts';
import { removeReaped, settleHookCopies } from './hooks/files/copies.ts';
import { settleTombstones } from './hooks/files/tombstones.ts';
import { startSweeping } from './files/sweeping.ts';
import { Hosts } from './http/hosts/hosts.ts';
import { type OpenServer, openServer } from './http/server.ts';
import { Mailer } from './mail/mailer.ts';
import { collectWhenIdle } from './process/idle-collection.ts';
import { setServingFlags } from './process/v8-flags.ts';
import { logFailure, logObserver } from './logging/events.ts';
import { SpentShares } from './logging/spent-shares.ts';
import { PolicyCache } from './policies/cache.ts';
import { createGuards } from './pipeline/guards.ts';
import { limitRequests } from './pipeline/limit-requests.ts';
import { refreshSetup } from './pipeline/setup-gate.ts';
import { createWebSockets } from './pipeline/upgrades.ts';
import { createRealtime } from './realtime/build.ts';
import { createRecordFiles } from './files/record-ports.ts';
import { createRecords } from './records/build.ts';
import { routes } from './routes/index.ts';
import { Traffic } from './process/load.ts';
import { startExpiry } from './workspaces/expiry.ts';
import { ActivityMeter } from './usage/activity.ts';
import { createShares } from './usage/build.ts';
import type { Sharing } from './usage/remainder.ts';

const drainMs = 10_000;
/** The time to close streams when the server stops. */
const streamCloseMs = 2_000;
const databaseTimeoutMs = 30_000;
const databaseRetryMs = 200;
const spares = 3;

/** Starts the API. */
async function serve(start: ApiStart): Promise<{ stop(): Promise<void> }> {
  const now = () => new Date();
  const newId = uuidV7Source(Date.now);
  const { config, config: { http } } = start;
  const observe = logObserver({ ...config.log, now });
  const traffic = new Traffic(Date.now);
  const blobs = await openBlobs(config, () => traffic.lull());
  const storage = await openWhenReachable(start, { blobs, now, newId, observe });
  const { databases, provisioning, secrets, upkeep } = storage;
  const seals = createAudit({ config, databases, secrets, observe, now }, start);
  const activity = new ActivityMeter({ databases, now, observe, onActive });
  const definitions = createDefinitions({ databases });
  const policyCache = new PolicyCache(databases);
  const spentShares = new SpentShares({ observe, now });
  const basics = { config, hosts: new Hosts(http), databases, secrets, spentShares, now, newId, observe };
  const auth = await createAuth({ ...basics, policyCache, traffic });
  const mail = new Mailer(basics);
  const realtime = createRealtime({ ...basics, definitions, ...auth.parts });
  const parts = { ...basics, blobs, activity, seals, traffic, policyCache, ...auth.parts };
  const { hooks, receive } = createHooks(parts, hookPorts(() => deps, start));
  const deps: Deps = {
    ...parts,
    provisioning,
    upkeep,
    definitions,
    ...createRecords({ definitions, settled: settledOf(start, storage), ...createRecordFiles(parts) }),
    hooks,
    sandbox: start.sandbox,
    realtime,
    setup: { initialized: await databases.control.run(readInitialized) },
    mail,
    egress: createEgress(config),
    ...await createShares(parts, sharingOf(start)),
  };
  listenToSupervisor(receive);
  await prepare(deps, start);
  const cacheSync = await startCacheSync(deps, { definitions, auth, hooks, refreshSetup });
  const server = await openHttp(deps, start, cacheSync);
  mail.start();
  const open = [...soleWork(start, deps), hooks, auth, mail, deps.egress, activity, seals, storage];
  send({ type: 'ready', url: server.url, initialized: deps.setup.initialized });
  return {
    async stop() {
      // At the same time, because the server waits for streams as for other responses.
      await Promise.all([server.close(drainMs), realtime.close(streamCloseMs)]);
      await cacheSync.stop();
      for (const part of open) await part.close();
    },
  };
}

/** Tells the supervisor that a workspace is active. */
function onActive(workspace: string): void {
  send({ type: 'runner_workspace_active', workspace });
}

function hookPorts(deps: () => Deps, { worker }: ApiStart) {
  return { send, deps, handleCall, worker };
}

/** Only for the one process on the embedded database, where nothing else writes. */
function settledOf(
  { config: { api, database } }: ApiStart,
  { databases }: Storage,
): (() => Promise<void>) | undefined {
  return api.workers === 1 && database.url === '' ? () => databases.lostConnections.whenEnded() : undefined;
}

/** Starts what one process does for all in the background: it sweeps files, and deletes expired workspaces. */
function soleWork({ worker }: ApiStart, deps: Deps): { close(): Promise<void> }[] {
  return worker === 0 ? [startExpiry(deps), startSweeping(deps)] : [];
}

/** Does what one process does for all before it serves, and what a successor does for a process that died. */
async function prepare(deps: Deps, { worker, successor }: ApiStart): Promise<void> {
  if (worker === 0 || successor) await settleTombstones(deps).then(() => settleHookCopies(deps));
  if (worker === 0) {
    await logMissingParts(deps);
    await recordSandbox(deps);
  }
  // The process may have died between a change and its notification.
  if (successor) await deps.databases.control.run(notifyResync);
}

/** Receives the supervisor's messages: pings, and those about hook runners and their files. */
function listenToSupervisor(receive: HookSystem['receive']): void {
  process.on('message', (message: ToApi, handle: unknown) => {
    if (message.type === 'ping') send({ type: 'pong' });
    else if (message.type !== 'start' && message.type !== 'stop') receive(message, handle);
  });
}

/** Opens the port for requests and WebSockets, with the same guards for both. */
async function openHttp(
  deps: Deps,
  { worker, successor, database }: ApiStart,
  cacheSync: CacheSync,
): Promise<OpenServer> {
  const { http, api } = deps.config;
  const guards = createGuards(deps, cacheSync);
  const sockets = createWebSockets(deps, guards);
  const listener = limitRequests(serveRoutes(deps, guards, routes), deps, guards);
  const server = await openServer(listener, {
    ...http,
    hosts: deps.hosts,
    refusals: guards.refusals,
    isShared: api.workers > 1,
    isFirst: worker === 0 && !successor,
    securityHeaders: guards.securityHeaders,
    mount: (opened) => sockets.mount(opened),
  });
  for (const own of [Number(new URL(server.url).port), database.port]) deps.egress.closePort(own);
  deps.observe({ type: 'server_ready', url: server.url });
  return server;
}

function sharingOf({ config: { api: { workers } }, worker }: ApiStart): Sharing {
  return { isAlone: workers === 1, workers, worker };
}

/** Opens the storage. Waits for a database server that is starting or being replaced, but not for one that lacks something. */
async function openWhenReachable(
  start: ApiStart,
  { blobs, now, newId, observe }: Pick<Deps, 'blobs' | 'now' | 'newId' | 'observe'>,
): Promise<Storage> {
  const { config } = start;
  const deadline = Date.now() + databaseTimeoutMs;
  let isReported = false;
  for (;;) {
    try {
      return await openStorage({
        access: start.database,
        masterKey: Buffer.from(start.masterKey, 'base64'),
        workspacePoolCap: config.database.workspace_pool_cap,
        appPoolCap: config.database.app_pool_cap,
        workers: config.api.workers,
        worker: start.worker,
        spares,
        blobs,
        now,
        newId,
        report: (done, total) =>
          send({ type: 'progress', message: `migrating databases: ${done} of ${total}` }),
        onReaped: removeReaped({ config, observe }),
        onShareSpent: (share, workspace) =>
          observe({ type: 'share_spent', share, workspace, client: undefined }),
        onFailure: logFailure({ observe }, 'keep databases'),
      });
    } catch (error) {
      const mayPass = error instanceof StorageError && error.failure === 'unavailable';
      if (!mayPass) throw error;
      if (Date.now() > deadline) throw new StartRefused(`the database does not respond: ${reasonOf(error)}`);
      if (!isReported) {
        send({ type: 'progress', message: `the database does not respond yet: ${reasonOf(error)}` });
      }
      isReported = true;
      await pause(databaseRetryMs);
    }
  }
}

function reasonOf(error: StorageError): string {
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  // The driver's message would name a host and a port that are not in the configuration.
  return 'code' in cause && cause.code === 'CONNECT_TIMEOUT' ? 'no response' : cause.message;
}

function send(message: FromApi): void {
  process.send?.(message);
}

function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof StartRefused) && error instanceof Error) console.error(error.stack);
  send({ type: 'failed', message });
  process.exit(1);
}

// Without its supervisor, nothing would stop this process.
process.on('disconnect', () => process.exit(1));

process.once('message', (message: ToApi) => {
  if (message.type !== 'start') return;
  serve(message).then((running) => {
    setServingFlags();
    collectWhenIdle();
    process.on('message', async (next: ToApi) => {
      if (next.type !== 'stop') return;
      await running.stop();
      process.exit(0);
    });
  }).catch(refuse);
});
