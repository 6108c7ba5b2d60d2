// The addresses that requests to other servers may reach.
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from '../../supervisor/protocol.ts';

/** The kind of an address, as seen from this machine. `forbidden` is never reached, whatever the configuration says. */
export type AddressKind = 'public' | 'loopback' | 'private' | 'forbidden';

type Range = readonly [network: string, prefix: number];

/** https://www.iana.org/assignments/iana-ipv4-special-registry and the -ipv6- one; what is in neither is public. */
const ranges: Readonly<
  Record<Exclude<AddressKind, 'public'>, { ipv4: readonly Range[]; ipv6: readonly Range[] }>
> = {
  // Link-local holds the metadata services of clouds; some keep theirs elsewhere. 0.0.0.0 is this machine to Linux.
  forbidden: {
    ipv4: [
      ['0.0.0.0', 8],
      ['169.254.0.0', 16],
      ['100.100.100.200', 32],
      ['168.63.129.16', 32],
      ['192.0.0.0', 24],
      ['192.0.2.0', 24],
      ['192.88.99.0', 24],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      ['224.0.0.0', 3],
    ],
    ipv6: [
      ['fe80::', 10],
      ['fec0::', 10],
      ['ff00::', 8],
      ['fd00:ec2::254', 128],
      ['fd20:ce::254', 128],
      ['2001::', 23],
      ['2001:db8::', 32],
      ['2002::', 16],
      ['3fff::', 20],
    ],
  },
  loopback: { ipv4: [['127.0.0.0', 8]], ipv6: [['::1', 128]] },
  private: {
    ipv4: [['10.0.0.0', 8], ['100.64.0.0', 10], ['172.16.0.0', 12], ['192.168.0.0', 16], [
      '198.18.0.0',
      15,
    ]],
    ipv6: [['fc00::', 7]],
  },
};

const lists = (['forbidden', 'loopback', 'private'] as const).map((kind) => {
  const { ipv4, ipv6 } = ranges[kind];
  const list = new BlockList();
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of ipv6) list.addSubnet(network, prefix, 'ipv6');
  return [kind, list] as const;
});

/** The kind of an address. An IPv6 address that embeds an IPv4 address counts as that one. */
export function addressKind(address: string): AddressKind {
  if (isIPv4(address)) return lists.find(([, list]) => list.check(address, 'ipv4'))?.[0] ?? 'public';
  if (!isIPv6(address) || address.includes('%')) return 'forbidden';
  const embedded = embeddedIPv4(address);
  if (embedded !== undefined) return addressKind(embedded);
  const known = lists.find(([, list]) => list.check(address, 'ipv6'))?.[0];
  // IANA allocates public addresses from 2000::/3 only.
  return known ?? ([0x2000, 0x3000].includes(parseGroups(address)[0] & 0xf000) ? 'public' : 'forbidden');
}

type Groups = readonly [number, number, number, number, number, number, number, number];

/** The IPv4 address in a mapped one (RFC 4291 section 2.5.5.2) or in one of NAT64 (RFC 6052). */
function embeddedIPv4(address: string): string | undefined {
  const [a, b, c, d, e, f, high, low] = parseGroups(address);
  const isMapped = a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff;
  const isTranslated = a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0;
  if (!isMapped && !isTranslated) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

function parseGroups(address: string): Groups {
  // The URL parser writes every spelling in one way: hexadecimal groups, at most one gap.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const numbers = (text: string | undefined) =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => parseInt(group, 16));
  const [first, last] = [numbers(head), numbers(tail)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  const at = (index: number) => all[index] ?? 0;
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
}

/** Decides by the configuration which addresses may be reached. */
export class Wall {
  readonly #setting: Config['egress']['private_hosts'];
  /** Ports of this machine that are the server's own. */
  readonly #ownPorts = new Set<number>();
  readonly #hosts: ReadonlySet<string>;

  constructor({ egress }: Pick<Config, 'egress'>) {
    const setting = egress.private_hosts;
    this.#setting = setting;
    this.#hosts = new Set(typeof setting === 'string' ? [] : setting.map((host) => host.toLowerCase()));
  }

  /** Makes a port of this machine the server's own. */
  closePort(port: number): void {
    this.#ownPorts.add(port);
  }

  /** The reason to refuse a URL whatever its name resolves to, or undefined. */
  objection(url: URL): string | undefined {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
    if (url.username !== '' || url.password !== '') return 'must not hold a name or a password';
    const address = withoutBrackets(url.hostname);
    if (!isIPv4(address) && !isIPv6(address)) {
      return isLoopbackHost(address) && !this.admits('127.0.0.1', url) ? refusal : undefined;
    }
    return this.admits(address, url) ? undefined : refusal;
  }

  /** True when a request for the URL may connect to the address, which its host is or was resolved to. */
  admits(address: string, url: URL): boolean {
    if (this.#ownPorts.has(portOf(url)) && isThisMachine(address)) return false;
    const kind = addressKind(address);
    if (kind === 'public' || kind === 'forbidden') return kind === 'public';
    if (this.#setting === 'allow') return true;
    if (this.#setting === 'loopback') return kind === 'loopback';
    // With `deny`, the set is empty.
    return includesHost(this.#hosts, url);
  }

  /**
   * True when the name is resolved by the system, with its hosts file. That takes one of Node's few threads, so names that
   * a tenant chose are resolved by DNS alone.
   */
  trustsName(url: URL): boolean {
    return this.#setting === 'allow' || this.#setting === 'loopback' || includesHost(this.#hosts, url);
  }
}

const refusal = 'must not be an address of a private network';

/** The host without the brackets of an IPv6 address. */
function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** True when hosts, each `host` or `host:port`, include that of a URL. A port that the URL omits is the scheme's default. */
export function includesHost(hosts: ReadonlySet<string>, url: URL): boolean {
  return hosts.has(url.hostname) || hosts.has(`${url.hostname}:${portOf(url)}`);
}

function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** True when an address is one of this machine's: of the loopback, or of its network interfaces. */
function isThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address));
  return addressKind(address) === 'loopback' || own.includes(address.replace(/^::ffff:(?=\d+\.)/i, ''));
}

/** True when a host is this machine (RFC 6761 section 6.3 for names). */
export function isLoopbackHost(host: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(host) || addressKind(host) === 'loopback';
}
