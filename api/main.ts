// The API process: the one place where its parts are put together.
import { setTimeout as pause } from 'node:timers/promises';
import { openBlobs } from '../storage/blobs/open.ts';
import { unpatchedFiles } from '../storage/connections/driver/driver.ts';
import { openStorage, type Storage } from '../storage/boot/boot.ts';
import { notifyResync } from '../storage/control/changes.ts';
import { StorageError } from '../storage/errors.ts';
import { uuidV7Source } from '../storage/sql/ids.ts';
import { readInitialized } from '../storage/control/server.ts';
import { StartRefused } from '../storage/boot/start-refused.ts';
import type { ApiStart, FromApi, ToApi } from '../supervisor/protocol.ts';
import { createHttpApp } from './app.ts';
import { createAudit } from './audit/build.ts';
import { recordSandbox } from './audit/sandbox.ts';
import { createAuth } from './auth/build.ts';
import { createDefinitions } from './collections/cache.ts';
import type { Deps } from './deps.ts';
import { createEgress } from './egress/client.ts';
import { type CacheSync, startCacheSync } from './process/cache-sync.ts';
import { handleCall } from './app-api/calls.ts';
import { createHooks, type HookSystem } from './hooks/build.ts';
import { settleDepartures } from './hooks/files/tombstones.ts';
import { startSweeping, type Sweeping } from './files/sweeping.ts';
import { type OpenServer, openServer } from './http/server.ts';
import { Mailer } from './mail/mailer.ts';
import { collectWhenIdle } from './process/idle-collection.ts';
import { setServingFlags } from './process/v8-flags.ts';
import { logFailure, logObserver } from './logging/events.ts';
import { PolicyCache } from './policies/cache.ts';
import { createGuards } from './pipeline/guards.ts';
import { nodeListener } from './http/node-listener.ts';
import { refreshSetup } from './pipeline/setup-gate.ts';
import { createWebSockets } from './pipeline/upgrades.ts';
import { createRealtime } from './realtime/build.ts';
import { createRecords } from './records/build.ts';
import { routes } from './routes/index.ts';
import { Traffic } from './process/load.ts';
import { ActivityMeter } from './usage/activity.ts';
import { Quotas } from './usage/quotas.ts';
import type { Sharing } from './usage/remainder.ts';

const drainMilliseconds = 10_000;
/** What streams get to say goodbye when the server stops. */
const farewellMilliseconds = 2_000;
const databaseWaitMilliseconds = 30_000;
const databaseRetryMilliseconds = 200;
const spares = 3;

/** A running API, until it is told to stop. */
async function serve(start: ApiStart): Promise<{ stop(): Promise<void> }> {
  const now = () => new Date();
  const newId = uuidV7Source(Date.now);
  const { config } = start;
  const observe = logObserver({ ...config.log, now });
  const traffic = new Traffic(Date.now);
  const blobs = await openBlobs(config, () => traffic.lull());
  const storage = await openWhenReachable(start, { blobs, now, newId, observe });
  const { databases, provisioning, secrets, upkeep } = storage;
  const seals = createAudit({ config, databases, secrets, observe, now }, start);
  const activity = new ActivityMeter({ databases, now, observe });
  const definitions = createDefinitions({ databases });
  const policyCache = new PolicyCache(databases);
  const basics = { config, databases, secrets, now, newId, observe };
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
    ...createRecords({ definitions, settled: settledOf(start, storage) }),
    hooks,
    sandbox: start.sandbox,
    realtime,
    setup: { initialized: await databases.control.run(readInitialized) },
    mail,
    egress: createEgress(config),
    quotas: new Quotas({ ...parts, sharing: sharingOf(start), now: Date.now }),
  };
  hearSupervisor(receive);
  await putInOrder(deps, start);
  const changes = await startCacheSync(deps, { definitions, auth, hooks, learnSetup: refreshSetup });
  const listening = await openDoor(deps, start, changes);
  mail.start();
  const open = [hooks, auth, mail, deps.egress, activity, sweepingOf(start, parts), seals, storage];
  tell({ type: 'ready', url: listening.url, initialized: deps.setup.initialized });
  return {
    async stop() {
      // Streams would be waited for as if they were answers.
      await Promise.all([listening.close(drainMilliseconds), realtime.close(farewellMilliseconds)]);
      await changes.stop();
      for (const part of open) await part.close();
    },
  };
}

function hookPorts(deps: () => Deps, { worker }: ApiStart) {
  return { send: tell, deps, answerCall: handleCall, worker };
}

/** For the one process on PostgreSQL of our own: nobody else writes there. */
function settledOf(
  { config: { api, database } }: ApiStart,
  { databases }: Storage,
): (() => Promise<void>) | undefined {
  return api.workers === 1 && database.url === '' ? () => databases.lostConnections.whenEnded() : undefined;
}

/** One process sweeps for all. */
function sweepingOf({ worker }: ApiStart, parts: Parameters<typeof startSweeping>[0]): Sweeping {
  return worker === 0 ? startSweeping(parts) : { close: () => Promise.resolve() };
}

/** What one process does for all of them before it lets requests in, and a successor for the one that died. */
async function putInOrder(deps: Deps, { worker, successor }: ApiStart): Promise<void> {
  if (worker === 0 || successor) await settleDepartures(deps);
  if (worker === 0) {
    if (unpatchedFiles.length > 0) deps.observe({ type: 'driver_unpatched', files: unpatchedFiles });
    await recordSandbox(deps);
  }
  // It may have died between a change and the message of it.
  if (successor) await deps.databases.control.run(notifyResync);
}

/** What the supervisor asks, and says of hook runners and of their files. */
function hearSupervisor(receive: HookSystem['receive']): void {
  process.on('message', (message: ToApi, handle: unknown) => {
    if (message.type === 'ping') tell({ type: 'pong' });
    else if (message.type !== 'start' && message.type !== 'stop') receive(message, handle);
  });
}

/** Requests and WebSockets come through the same one. */
async function openDoor(
  deps: Deps,
  { worker, successor }: ApiStart,
  hearing: CacheSync,
): Promise<OpenServer> {
  const { http: { host, port }, api } = deps.config;
  const door = createGuards(deps, hearing);
  const sockets = createWebSockets(deps, door);
  const listening = await openServer(nodeListener(createHttpApp(deps, door, routes)), {
    host,
    port,
    isShared: api.workers > 1,
    isFirst: worker === 0 && !successor,
    securityHeaders: door.securityHeaders,
    mount: (server) => sockets.mount(server),
  });
  deps.observe({ type: 'server_ready', url: listening.url });
  return listening;
}

function sharingOf({ config: { api: { workers } }, worker }: ApiStart): Sharing {
  return { isAlone: workers === 1, workers, worker };
}

/** A server that is starting, or being replaced, is waited for; one that lacks something is not. */
async function openWhenReachable(
  start: ApiStart,
  { blobs, now, newId, observe }: Pick<Deps, 'blobs' | 'now' | 'newId' | 'observe'>,
): Promise<Storage> {
  const { config } = start;
  const deadline = Date.now() + databaseWaitMilliseconds;
  let isTold = false;
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
          tell({ type: 'progress', message: `migrating databases: ${done} of ${total}` }),
        onReaped: (database) => observe({ type: 'workspace_reaped', database }),
        onFailure: logFailure({ observe }, 'keep databases'),
      });
    } catch (error) {
      const mayPass = error instanceof StorageError && error.failure === 'unavailable';
      if (!mayPass) throw error;
      if (Date.now() > deadline) throw new StartRefused(`the database does not answer: ${reasonOf(error)}`);
      if (!isTold) {
        tell({ type: 'progress', message: `the database does not answer yet: ${reasonOf(error)}` });
      }
      isTold = true;
      await pause(databaseRetryMilliseconds);
    }
  }
}

function reasonOf(error: StorageError): string {
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  // The driver would name a host and a port that it was not given.
  return 'code' in cause && cause.code === 'CONNECT_TIMEOUT' ? 'no answer' : cause.message;
}

function tell(message: FromApi): void {
  process.send?.(message);
}

function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof StartRefused) && error instanceof Error) console.error(error.stack);
  tell({ type: 'failed', message });
  process.exit(1);
}

// Without its supervisor it must not go on: nobody would stop it.
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
