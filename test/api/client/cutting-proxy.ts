// A proxy that cuts its connections when told to.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The proxy. */
export interface CuttingProxy {
  url: string;
  /** Cuts every connection. Returns how many there were. */
  cut(): number;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server, on a free port. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    sockets.add(socket);
    const end = () => {
      socket.destroy();
      upstream.destroy();
      sockets.delete(socket);
    };
    for (const side of [socket, upstream]) side.on('error', end).on('close', end);
    socket.pipe(upstream).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const cut = () => {
    const count = sockets.size;
    for (const socket of sockets) socket.resetAndDestroy();
    return count;
  };
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
