// A throw-away server: `serve` within this process, without what makes data outlive a power cut.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { resolveConfig, type SettingFlag } from '../config.ts';
import type { Config } from '../protocol.ts';
import { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { textMember } from '../remote/members.ts';
import { loginScopes } from '../remote/scopes.ts';
import { withSession } from '../remote/session.ts';
import type { ServerAccess } from './stored.ts';

/** A server that listens. */
export interface RunningServer {
  url: string;
  stop: () => Promise<void>;
}

/** The workspace of every throw-away server. */
export const workspaceId = 'test';

/** What differs from the defaults: nobody but this machine calls it, and tests send many requests over plain HTTP. */
const ownDefaults: Readonly<Record<string, string>> = {
  'rate_limit.enabled': 'false',
  'http.cookie_secure': 'false',
  'egress.private_hosts': 'loopback',
  'hooks.type_check': 'false',
  'storage.reserve_mb': '0',
  'log.format': 'json',
};

/** The configuration in a data directory. Neither the environment nor a configuration file of another server counts. */
export function throwawayConfig(dataDir: string, flags: readonly SettingFlag[]): Config {
  const own = (settings: Readonly<Record<string, string>>) =>
    Object.entries(settings).map(([key, text]) => ({ key, text, source: 'ephemeral' }));
  const fixed = { data_dir: dataDir, 'http.host': '127.0.0.1', 'http.port': '0', 'database.url': '' };
  return resolveConfig({
    file: undefined,
    env: {},
    flags: [...own(ownDefaults), ...flags, ...own(fixed)],
    cwd: '/',
    terminal: false,
  }).config;
}

/** Starts a server, whose log goes to the file. Throws `StartRefused`, with everything down again. */
export async function startThrowaway(config: Config, logFile: string): Promise<RunningServer> {
  const { serve } = await import('../commands/serve.ts');
  const stop = new AbortController();
  const log = openSync(logFile, 'a', 0o600);
  const listening = Promise.withResolvers<string>();
  const ended = serve(config, { stop: stop.signal, kill: new AbortController().signal }, {
    output: { write: (text) => void writeSync(log, text), descriptor: log },
    onStarted: ({ url }) => listening.resolve(url),
    isThrowaway: true,
  }).finally(() => closeSync(log));
  ended.catch(listening.reject);
  const url = await listening.promise;
  return {
    url,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** Sets a new server up, with its workspace. */
export async function setUp(url: string): Promise<ServerAccess> {
  const password = randomBytes(16).toString('base64url');
  await new RemoteClient(url, undefined).request('/_/setup', { method: 'POST', body: { password } });
  const signIn = { level: 'server', name: 'admin', password } as const;
  const token = await withSession({ url, workspace: undefined }, signIn, async (client) => {
    const body = { name: 'ephemeral', scopes: loginScopes.server };
    return textMember((await client.request('/api/keys', { method: 'POST', body })).body, 'secret');
  });
  if (token === undefined) throw new CommandFailed('refused', 'the server made no key');
  const body = { id: workspaceId, name: workspaceId };
  await new RemoteClient(url, token).request('/api/workspaces', { method: 'POST', body });
  return { password, token };
}
