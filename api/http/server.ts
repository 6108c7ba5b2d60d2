// Opening the port, and closing it without cutting off a request.
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createProbe } from 'node:net';
import { listen as listhen } from 'listhen';
import { StartRefused } from '../../storage/boot/start-refused.ts';
import type { HeaderList } from './header-list.ts';
import { setServerOptions } from './node-internals.ts';
import { limitChunks } from './protection/body-chunks.ts';
import { limitBodyTime } from './protection/body-time.ts';
import { refuseAmbiguous, respondToClientErrors } from './client-error.ts';
import { limitPipelining } from './protection/waiting-requests.ts';

/** An open port. */
export interface OpenServer {
  /** Where it answers, e.g. `http://127.0.0.1:8080`. */
  url: string;
  /** Stops accepting, waits for requests in flight at most `milliseconds`, then cuts what is left. */
  close(milliseconds: number): Promise<void>;
}

/** Where to listen; `isShared` opens the port with SO_REUSEPORT for several processes, of which the `isFirst` finds it free. */
export interface ServerOptions {
  host: string;
  port: number;
  isShared: boolean;
  isFirst: boolean;
  /** Headers of every answer, also of those that no route gives. */
  securityHeaders: HeaderList;
  /** Called with the server: what else it is to answer. */
  mount(server: Server): void;
}

const headersTimeout = 10_000;
const maximalHeaderLines = 100;
/** How often Node looks for connections over the two limits; its own 30 s would make 40 s of 10. */
const connectionsCheckingInterval = 1_000;
const idlePollMilliseconds = 50;

/** Opens the port. Throws `StartRefused` when it is taken: another port is never chosen instead. */
export async function openServer(handler: RequestListener, options: ServerOptions): Promise<OpenServer> {
  const guarded = limitPipelining(refuseAmbiguous(handler, options.securityHeaders));
  const opening = options.isShared ? openShared(guarded, options) : open(guarded, options);
  const server = await opening.catch((error: unknown) => refuse(error, options));
  server.headersTimeout = headersTimeout;
  limitBodyTime(server);
  limitChunks(server);
  server.maxHeadersCount = maximalHeaderLines;
  respondToClientErrors(server, options.securityHeaders);
  options.mount(server);
  // listhen makes the server without options.
  setServerOptions(server, { connectionsCheckingInterval, requireHostHeader: false });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, close: (milliseconds) => close(server, milliseconds) };
}

function refuse(error: unknown, { host, port }: ServerOptions): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new StartRefused(
    `cannot listen on port ${port} of ${host}: ${reason}; set http.port (BULKHEAD_HTTP__PORT) or http.host`,
  );
}

async function open(handler: RequestListener, { host, port }: ServerOptions): Promise<Server> {
  const opening = listhen(handler, {
    hostname: host,
    port: port === 0 ? { random: true, verbose: false } : { port, random: false, verbose: false },
    public: host === '0.0.0.0' || host === '::',
    isProd: true,
    showURL: false,
    autoClose: false,
    qr: false,
  });
  // Whatever keeps listhen from the port, it says that it found none: Node says what it is.
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

/** listhen cannot share a port; Node can. */
async function openShared(
  handler: RequestListener,
  { host, port, isFirst }: ServerOptions,
): Promise<Server> {
  // Another server that shares its port would share it with us, too, and each would get the requests of both.
  if (isFirst && port !== 0) await requireFree({ host, port });
  const server = createServer(handler);
  return await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, reusePort: true }, () => resolve(server));
  });
}

/** Throws the system's own words when the port cannot be opened. */
async function requireFree(where: { host: string; port: number }): Promise<void> {
  const probe = createProbe((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(where, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

function close(server: Server, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy when we began turns idle with its answer, and would be kept alive.
    const poll = setInterval(() => server.closeIdleConnections(), idlePollMilliseconds);
    const deadline = setTimeout(() => server.closeAllConnections(), milliseconds);
    server.close(() => {
      clearInterval(poll);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
