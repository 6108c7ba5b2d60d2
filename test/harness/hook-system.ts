// Hooks of a process of the test's own, without HTTP: the real supervision, real runners, a real database.
import { SpentShares } from '../../api/logging/spent-shares.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../api/apps/create.ts';
import type { AppHooks } from '../../api/hooks/app-hooks.ts';
import { createHooks, type HookSystem } from '../../api/hooks/build.ts';
import { UnaryInvocation } from '../../api/hooks/rpc/unary-invocation.ts';
import { Hosts } from '../../api/http/hosts/hosts.ts';
import { serveCustom } from '../../api/hooks/routes/serve.ts';
import type { CustomRequest } from '../../api/hooks/ports.ts';
import { effectivePolicies } from '../../api/policies/effective.ts';
import { ActivityMeter } from '../../api/usage/activity.ts';
import { createWorkspace } from '../../api/workspaces/create.ts';
import { Secrets } from '../../storage/secrets.ts';
import type { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import { resolveConfig } from '../../supervisor/config.ts';
import { createHookProcesses as createSupervision } from '../../supervisor/hooks/hooks.ts';
import type { Config, RunnerReport, RunnerRequest } from '../../supervisor/protocol.ts';
import { type BareApp, bareApp } from './bare-app.ts';
import { type Speaker, spokenRunners } from './spoken-runner.ts';

/** The hooks of apps that a test makes. */
export interface OwnHooks {
  /** Hooks of a new app with these files, of which nothing is loaded; in a new workspace where there is none of the id. */
  app(id: string, files: Record<string, string>, workspace?: string): Promise<AppHooks>;
  /** Writes files of an app, and tells nobody. */
  write(id: string, files: Record<string, string>): Promise<void>;
  /** Where the files of an app are. */
  folder(id: string): string;
  /** Answers a request for a custom route of an app. */
  serve(hooks: AppHooks, request: CustomRequest): Promise<void>;
  /** What was asked of the supervisor. */
  readonly asked: readonly RunnerRequest[];
  end(): Promise<void>;
}

/** What a test has otherwise than it usually is. */
export interface HookOptions {
  /** See `HookParts`. */
  restShare?: number;
  /** See `HookParts`. */
  starts?: FairQueue;
  settings?: Partial<Pick<Config['hooks'], 'max_runners' | 'idle_ms'>>;
  /** Speaks for the runners, in place of real ones. */
  speaker?: Speaker;
  /** What each of those waits for before it starts. */
  mayStart?: () => Promise<void>;
}

/** Makes them. */
export async function ownHooks(
  { settings = {}, ...options }: HookOptions = {},
): Promise<OwnHooks> {
  const app = await bareApp();
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-hooks-'));
  // Runners have users of their own.
  await chmod(folder, 0o711);
  const input = { file: undefined, env: {}, flags: [], cwd: folder, terminal: false };
  const { config: usual } = resolveConfig(input);
  const hooks = { ...usual.hooks, ...settings, dir: join(folder, 'hooks') };
  const config = { ...usual, data_dir: folder, hooks };
  const { system, asked, stop } = supervised(app, config, options);
  const { workspace } = await app.definition();
  const write = async (id: string, files: Record<string, string>, home = workspace.id) => {
    const place = join(config.hooks.dir, home, id);
    await mkdir(place, { recursive: true });
    for (const [name, source] of Object.entries(files)) await writeFile(join(place, name), source);
  };
  return {
    app: async (id, files, home = workspace.id) => {
      const { deps, by } = app;
      const known = await deps.definitions.workspace(home);
      if (known === undefined) await createWorkspace(deps, { id: home, name: home }, by);
      const place = await deps.definitions.workspace(home) ?? workspace;
      await createApp(deps, place, { id, name: id, caller: by });
      const definition = await deps.definitions.app(home, id);
      if (definition === undefined) throw new Error('the app is not there');
      await write(id, files, home);
      return system.hooks.get(definition);
    },
    ...{ write, asked, folder: (id) => join(config.hooks.dir, workspace.id, id) },
    serve: async (hooks, request) => {
      const definition = await app.deps.definitions.app(workspace.id, hooks.app.id);
      if (definition === undefined) throw new Error('the app is not there');
      await serveCustom({ ...app.deps, config, hosts: new Hosts(config.http) }, hooks, definition, request);
    },
    end: async () => {
      await stop();
      await rm(folder, { recursive: true });
      await app.end();
    },
  };
}

/** The hooks of an API process, and the supervisor's side of them. */
function supervised(
  { deps }: BareApp,
  config: Config,
  { speaker, mayStart, ...options }: Omit<HookOptions, 'settings'>,
) {
  const supervision = createSupervision({
    config,
    uid: process.getuid?.() ?? -1,
    api: undefined,
    kernel: { groups: undefined, why: 'a test asks for none' },
    path: process.env['PATH'] ?? '',
    say: () => undefined,
  });
  const report = (report: RunnerReport, socket: unknown) => system.receive(report, socket);
  const desk = supervision.runners.connect(report);
  const ask = speaker === undefined
    ? (request: RunnerRequest) => desk.handle(request)
    : spokenRunners(speaker, report, mayStart);
  const observe = () => undefined;
  const now = () => new Date();
  const spentShares = new SpentShares({ observe, now });
  const hosts = new Hosts(config.http);
  const own = { ...deps, config, hosts, observe, spentShares, secrets: new Secrets(randomBytes(32)), now };
  const activity = new ActivityMeter(own);
  const policies = effectivePolicies({ config, cache: own.policyCache });
  const asked: RunnerRequest[] = [];
  const system: HookSystem = createHooks({ ...own, activity, policies }, {
    send: (request) => {
      if (request.type === 'peers_ask' || request.type === 'peers_response') return;
      asked.push(request);
      ask(request);
    },
    deps: () => {
      throw new Error('no hook of these tests asks for anything');
    },
    handleCall: () => Promise.reject(new Error('no hook of these tests asks for anything')),
    worker: 1,
    ...options,
  });
  const stop = async () => {
    system.hooks.close();
    // It fills a folder with compiled code, whether or not a runner was asked for.
    await supervision.sandbox;
    await supervision.stop();
    await activity.close();
  };
  return { system, asked, stop };
}

/** Runs what an app does before a record is created. */
export function beforeCreate(hooks: AppHooks, collection: string) {
  const record = { id: randomUUID(), collection, created_at: '', updated_at: '', fields: {} };
  return hooks.run(
    { requestId: 'test', depth: 0 },
    (id) => ({
      ...{ type: 'event', id, event: 'before_create', collection, record, request_id: 'test' },
      ...{ previous: null, auth: null },
    }),
  );
}

/** Begins a job, one of the app's that never ends unless named, and answers how it was ended. */
export function keepBusy({ live }: Pick<AppHooks, 'live'>, name = 'never'): Promise<unknown> {
  if (live === undefined) throw new Error('nothing is loaded');
  const asked = new UnaryInvocation(Infinity, () => Promise.resolve(null));
  live.begin(asked, { requestId: 'test', depth: 0, deadline: Infinity }, (id) => (
    { type: 'cron', id, name, scheduled_at: '', request_id: 'test' }
  ));
  return asked.result.catch((error: unknown) => error);
}
