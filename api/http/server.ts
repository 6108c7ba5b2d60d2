// Opens the server's port, and closes it without cutting off a request.
import { createServer, type RequestListener, type Server } from 'node:http';
import { registerHooks } from 'node:module';
import { type AddressInfo, createServer as createProbe, type Socket } from 'node:net';
import { StartRefused } from '../../storage/boot/start-refused.ts';
import type { Config } from '../../supervisor/protocol.ts';
import type { HeaderList } from './header-list.ts';
import { useAppPaths } from './hosts/app-paths.ts';
import type { Hosts } from './hosts/hosts.ts';
import { setServerOptions } from './node-internals.ts';
import { limitChunks } from './protection/body-chunks.ts';
import { limitBodyTime } from './protection/body-time.ts';
import { ignoreRefused, refuseAmbiguous, respondToClientErrors } from './client-error.ts';
import type { Refusals } from './protection/refusals.ts';
import { holdPipelined, roundRobin } from './protection/waiting-requests.ts';
import { peerAddress } from './request-info.ts';

/** An open port. */
export interface OpenServer {
  /** The address of the server, e.g. `http://127.0.0.1:8080`. */
  url: string;
  /** Stops accepting connections, waits for requests in flight for at most `timeoutMs`, then closes what is left. */
  close(timeoutMs: number): Promise<void>;
}

/** Where to listen, and how. */
export interface ListenOptions
  extends Pick<Config['http'], 'host' | 'port' | 'keep_alive_ms' | 'trust_proxy'> {
  hosts: Hosts;
  /** True to share the port with other processes (SO_REUSEPORT). */
  isShared: boolean;
  /** True for the process that must find a shared port free. */
  isFirst: boolean;
  refusals: Refusals;
  /** Sent with responses that no route makes. */
  securityHeaders: HeaderList;
  /** Adds to the server before it serves. */
  mount(server: Server): void;
}

const headersTimeoutMs = 10_000;
const maxHeaderLines = 100;
/** Of the headers and the request line, whose query may have 4,096 characters of 12 bytes each, percent-encoded. */
const maxHeadBytes = 65_536;
/** The interval in which Node checks connections for timeouts. Its own 30 s would make up to 40 s of 10. */
const timeoutCheckMs = 1_000;
const idlePollMs = 50;
/**
 * An idle connection is closed so much later than its client was told. Otherwise a client that is busy for some seconds, or far
 * away, sends a request on a connection that is just being closed, and cannot know whether it was served.
 */
const keepAliveBufferMs = 15_000;

/** Opens the port. Throws `StartRefused` when it is taken; never chooses another port instead. */
export async function openServer(handler: RequestListener, options: ListenOptions): Promise<OpenServer> {
  const hold = holdPipelined(roundRobin());
  const guarded = ignoreRefused(
    hold(refuseAmbiguous(useAppPaths(handler, options.hosts), options)),
  );
  const opening = options.isShared ? openShared(guarded, options) : open(guarded, options);
  const server = await opening.catch((error: unknown) => refuse(error, options));
  server.headersTimeout = headersTimeoutMs;
  server.keepAliveTimeout = options.keep_alive_ms;
  server.keepAliveTimeoutBuffer = keepAliveBufferMs;
  limitBodyTime(server);
  limitChunks(server);
  server.maxHeadersCount = maxHeaderLines;
  respondToClientErrors(server, { ...options, hold });
  server.on('connection', (socket: Socket) => {
    // The address of a proxy is that of all clients.
    if (!options.trust_proxy && options.refusals.isFlooding(peerAddress(socket))) socket.destroy();
  });
  options.mount(server);
  // listhen makes the server without options.
  setServerOptions(server, {
    connectionsCheckingInterval: timeoutCheckMs,
    requireHostHeader: false,
    maxHeaderSize: maxHeadBytes,
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, close: (timeoutMs) => close(server, timeoutMs) };
}

function refuse(error: unknown, { host, port }: ListenOptions): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new StartRefused(
    `cannot listen on port ${port} of ${host}: ${reason}; set http.port (BULKHEAD_HTTP__PORT) or http.host`,
  );
}

/** Loads listhen without its `node-forge`, 865 kB that make certificates: nobody asks for HTTPS here, and it would take 1.5 MiB. */
async function loadListhen(): Promise<typeof import('listhen')['listen']> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node-forge'
        ? { url: 'data:text/javascript,export default {};', shortCircuit: true }
        : next(specifier, context),
  });
  try {
    return (await import('listhen')).listen;
  } finally {
    hooks.deregister();
  }
}

async function open(handler: RequestListener, { host, port }: ListenOptions): Promise<Server> {
  const listhen = await loadListhen();
  const opening = listhen(handler, {
    hostname: host,
    port: port === 0 ? { random: true, verbose: false } : { port, random: false, verbose: false },
    public: host === '0.0.0.0' || host === '::',
    isProd: true,
    showURL: false,
    autoClose: false,
    qr: false,
  });
  // listhen says of every error that it found no port. Node says what the error is.
  const listener = await opening.catch(async (error: unknown) => {
    await requireFree({ host, port });
    throw error;
  });
  if (port !== 0 && listener.address.port !== port) {
    await listener.close();
    throw new Error('it is taken');
  }
  return listener.server as Server;
}

/** Opens a shared port with Node itself, because listhen cannot. */
async function openShared(
  handler: RequestListener,
  { host, port, isFirst }: ListenOptions,
): Promise<Server> {
  // A foreign server that shares its port would share it with this one too, and each would get requests of the other.
  if (isFirst && port !== 0) await requireFree({ host, port });
  const server = createServer(handler);
  return await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, reusePort: true }, () => resolve(server));
  });
}

/** Throws the system's error when the port cannot be opened. */
async function requireFree(where: { host: string; port: number }): Promise<void> {
  const probe = createProbe((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(where, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

function close(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy turns idle with its response, and would be kept alive.
    const poll = setInterval(() => server.closeIdleConnections(), idlePollMs);
    const deadline = setTimeout(() => server.closeAllConnections(), timeoutMs);
    server.close(() => {
      clearInterval(poll);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
