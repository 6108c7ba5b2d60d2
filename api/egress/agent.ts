// The undici agent of the egress client: it checks every address that it connects to.
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { addressRefused } from './failure.ts';
import { chooseResolver, guardedLookup, type Resolve } from './names.ts';
import type { Wall } from './wall.ts';

const connectTimeoutMs = 5_000;
const maxHeaderBytes = 16_384;

/** Creates an agent with connections of its own. `resolve` replaces this machine's resolver. */
export function guardedAgent(wall: Wall, resolve: Resolve | undefined): Agent {
  return new Agent({
    connect: guardedConnector(wall, resolve),
    // No limit for a host, so that one tenant cannot block the others' requests to it. The callers limit their requests.
    connections: null,
    maxHeaderSize: maxHeaderBytes,
    allowH2: false,
  });
}

/** Connects only to addresses that the wall admits. Checks a literal address, those of a name, and the one connected to. */
function guardedConnector(wall: Wall, resolve: Resolve | undefined): buildConnector.connector {
  return (options, callback) => {
    const { hostname, protocol, port } = options;
    const url = new URL(`${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`);
    if (isIP(hostname) !== 0 && !wall.admits(hostname, url)) return callback(addressRefused(), null);
    const connect = buildConnector({
      lookup: guardedLookup(resolve ?? chooseResolver(wall, url), (address) => wall.admits(address, url)),
      timeout: connectTimeoutMs,
      allowH2: false,
      maxCachedSessions: 0,
    });
    connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      // The types do not say that the socket is null after an error.
      if (error !== null) return callback(error, null);
      if (wall.admits(socket.remoteAddress ?? '', url)) return callback(null, socket);
      socket.destroy();
      callback(addressRefused(), null);
    });
  };
}
