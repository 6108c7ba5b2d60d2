// The undici agent behind `client.ts`: it checks every address that it connects to.
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { addressRefused } from './failure.ts';
import { chooseResolver, guardedLookup, type Resolve } from './names.ts';
import type { Wall } from './wall.ts';

const connectTimeoutMs = 5_000;
const headerBytes = 16_384;

/** A client of its own connections; `resolve` stands in for this machine's resolver. */
export function guardedAgent(wall: Wall, resolve: Resolve | undefined): Agent {
  return new Agent({
    connect: guardedConnector(wall, resolve),
    // As many as there are requests, which are bounded where they come from: one tenant's to a slow host would otherwise hold
    // up those of others to it.
    connections: null,
    maxHeaderSize: headerBytes,
    allowH2: false,
  });
}

/** Connects only to addresses that the wall admits: literal ones, those of a name, and the one that was reached. */
function guardedConnector(wall: Wall, resolve: Resolve | undefined): buildConnector.connector {
  return (options, callback) => {
    const { hostname, protocol, port } = options;
    const url = new URL(`${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`);
    if (isIP(hostname) !== 0 && !wall.admits(hostname, url)) return callback(addressRefused(), null);
    const addressesOf = resolve ?? chooseResolver(wall, url);
    const connect = buildConnector({
      lookup: guardedLookup(addressesOf, (address) => wall.admits(address, url)),
      timeout: connectTimeoutMs,
      allowH2: false,
      maxCachedSessions: 0,
    });
    connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      // After an error there is no socket, whatever the types say.
      if (error !== null) return callback(error, null);
      if (wall.admits(socket.remoteAddress ?? '', url)) return callback(null, socket);
      socket.destroy();
      callback(addressRefused(), null);
    });
  };
}
