// The network of a client's address. Limits count networks, because one client may have many addresses.
import { isIPv6 } from 'node:net';

/** The key that limits count an address by: the address itself, or the /64 of an IPv6 address, which one customer has as a whole. */
export function networkOf(ip: string): string {
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined
    ? []
    : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(':');
}

/** True for an address of the server's own machine, which no other machine can have (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
export function isLoopback(ip: string): boolean {
  return /^(?:::ffff:)?127\.|^::1$/i.test(ip);
}
