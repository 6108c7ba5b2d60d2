// Resolves the names of other servers to addresses that may be connected to.
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { addressRefused, EgressError } from './failure.ts';
import { isLoopbackHost, type Wall } from './wall.ts';

/** Resolves a name to addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const dnsTimeoutMs = 1_500;
const dnsTries = 2;

/** Chooses how the host of a URL is resolved. */
export function chooseResolver(wall: Wall, url: URL): Resolve {
  if (isLoopbackHost(url.hostname)) return () => Promise.resolve(['127.0.0.1', '::1']);
  return wall.trustsName(url) ? resolveBySystem : resolveByDns;
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

async function resolveByDns(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: dnsTries });
  const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return results.flatMap((result) => result.status === 'fulfilled' ? result.value : []);
}

/**
 * Returns the lookup of a socket, which connects to exactly the addresses that it returns. A name with one address that
 * may not be reached is refused: it was made to get past the check.
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
