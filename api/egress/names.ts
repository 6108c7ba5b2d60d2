// How the names of other servers become addresses that may be connected to.
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { addressRefused, EgressError } from './failure.ts';
import { isLoopbackHost, type Wall } from './wall.ts';

/** What a name resolves to. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const dnsTimeoutMs = 1_500;
const dnsTries = 2;

/** How the host of a URL is looked up on this machine. */
export function chooseResolver(wall: Wall, url: URL): Resolve {
  if (isLoopbackHost(url.hostname)) return () => Promise.resolve(['127.0.0.1', '::1']);
  return wall.trustsName(url) ? resolveAsMachine : resolveByDns;
}

async function resolveAsMachine(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

async function resolveByDns(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: dnsTries });
  const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return results.flatMap((result) => result.status === 'fulfilled' ? result.value : []);
}

/**
 * Looks a name up for a socket, which connects to exactly what is answered. One address that may not be reached spoils
 * all: a name that mixes them was made to get through.
 */
export function guardedLookup(resolve: Resolve, admits: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then((addresses) => {
      const [first] = addresses;
      if (first === undefined) throw new EgressError('unreachable', 'the host has no address');
      if (!addresses.every(admits)) throw addressRefused();
      if (options.all !== true) return callback(null, first, isIP(first));
      callback(null, addresses.map((address) => ({ address, family: isIP(address) })));
    }).catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''));
  };
}
