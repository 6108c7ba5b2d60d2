// The socket under a connection to PostgreSQL, opened here and not by the driver.
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The address of a server: the directory of its Unix socket, or a host name. */
export interface Address {
  host: string;
  port: number;
  ssl: 'disable' | 'prefer' | 'require' | 'verify-full';
}

/** True when a host is the directory of a Unix socket, so that the server is on this machine. */
export function isSocketFolder(host: string): boolean {
  return host.startsWith('/');
}

/** A connected socket whose end is reported once, and never to the driver. */
export interface OwnSocket {
  socket: Socket;
  /** Lets the driver see the `close` event from now on, because the driver itself closes the socket. */
  release(): void;
}

const connectTimeoutMs = 5_000;
/** https://www.postgresql.org/docs/18/protocol-message-formats.html: SSLRequest */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const sslAccepted = 'S'.charCodeAt(0);

/**
 * Connects. When the connection is lost, the driver gets no `close` event: it would drop its socket, write to it all
 * the same (an exception that nobody can catch), and connect again in the middle of a transaction. Instead `onLost` is
 * called, and the owner of the driver's client ends it. Throws an error with a `code`.
 */
export async function openSocket(address: Address, onLost: () => void): Promise<OwnSocket> {
  const plain = await connected(address);
  const socket = address.ssl === 'disable' ? plain : await encrypted(plain, address);
  let released = false;
  let lost = false;
  const emit = socket.emit.bind(socket);
  socket.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event !== 'close' || released) return emit(event, ...args);
    if (!lost) onLost();
    lost = true;
    return true;
  };
  // The driver adds its listener a moment later. An error until then must not be an exception.
  socket.on('error', ignore);
  return {
    socket,
    release() {
      released = true;
    },
  };
}

/** An error is always followed by `close`, which is what counts. */
function ignore(): void {}

function connected({ host, port }: Address): Promise<Socket> {
  const socket = isSocketFolder(host)
    ? connectSocket(`${host}/.s.PGSQL.${port}`)
    : connectSocket({ host, port, noDelay: true, keepAlive: true });
  return settled(socket, 'connect');
}

async function encrypted(socket: Socket, { host, ssl }: Address): Promise<Socket> {
  const isAccepted = await acceptsTls(socket);
  if (!isAccepted && ssl === 'prefer') return socket;
  if (!isAccepted) {
    socket.destroy();
    throw failure('ECONNREFUSED', 'the database server does not speak TLS');
  }
  // An address is no name for SNI, but the certificate is checked against it.
  const servername = isIP(host) === 0 ? host : '';
  return await settled(
    connectTls({ socket, host, servername, rejectUnauthorized: ssl === 'verify-full' }),
    'secureConnect',
  );
}

/** Requests TLS. The server responds with one byte. */
async function acceptsTls(socket: Socket): Promise<boolean> {
  socket.write(sslRequest);
  await settled(socket, 'readable');
  const response: unknown = socket.read(1);
  return Buffer.isBuffer(response) && response[0] === sslAccepted;
}

/** Waits for an event of a socket. An error, or a timeout, destroys it. */
function settled(socket: Socket, event: 'connect' | 'secureConnect' | 'readable'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const end = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => end(failure('CONNECT_TIMEOUT', 'no response')), connectTimeoutMs);
    const closed = () => end(failure('ECONNRESET', 'the connection was closed'));
    socket.once('error', end);
    socket.once('close', closed);
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off('error', end);
      socket.off('close', closed);
      resolve(socket);
    });
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
