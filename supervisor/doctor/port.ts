// `bulkhead doctor`: the address that the server listens on.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { messageOf, systemErrorCode } from '../errors.ts';
import { memberOf } from '../remote/members.ts';
import type { Config } from '../protocol.ts';
import { failed, ok } from './finding.ts';
import type { Finding } from './protocol.ts';

const timeoutMs = 2_000;

/** Listens for a moment. `isServing`: the server itself may be what listens there. */
export async function checkPort({ http: { host, port } }: Config, isServing: boolean): Promise<Finding> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return ok('port', port === 0 ? `any free port of ${host}` : `${host}:${port} is free`);
  } catch (error) {
    return await explain(error, { host, port, isServing });
  } finally {
    server.close();
  }
}

async function explain(
  error: unknown,
  { host, port, isServing }: { host: string; port: number; isServing: boolean },
): Promise<Finding> {
  const choose = 'choose another with --http-port or http.port';
  switch (systemErrorCode(error)) {
    case 'EADDRINUSE': {
      const isOurs = await isBulkhead(host, port);
      if (isOurs && isServing) return ok('port', `${host}:${port}, where this server runs`);
      const who = isOurs ? 'another Bulkhead server' : 'another program';
      return failed('port', `${who} listens on port ${port} of ${host}`, `stop that one, or ${choose}`);
    }
    case 'EACCES':
      return failed('port', `only root may listen on port ${port}`, choose);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return failed(
        'port',
        `${host} is no address of this machine`,
        'set http.host to 127.0.0.1, or to 0.0.0.0',
      );
    default:
      return failed('port', `nothing can listen on ${host}:${port}: ${messageOf(error)}`, choose);
  }
}

async function isBulkhead(host: string, port: number): Promise<boolean> {
  const name = host === '0.0.0.0'
    ? '127.0.0.1'
    : host === '::'
    ? '[::1]'
    : host.includes(':')
    ? `[${host}]`
    : host;
  try {
    const response = await fetch(`http://${name}:${port}/healthz`, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    return typeof memberOf(await response.json(), 'initialized') === 'boolean';
  } catch {
    return false;
  }
}
