// The guarded client for tests that call it themselves.
import { createEgress, type Egress } from '../../api/egress/client.ts';
import type { Resolve } from '../../api/egress/names.ts';

/** How it differs from that of a server which listens on the loopback only. */
export interface EgressSetting {
  hosts?: 'auto' | 'deny' | 'allow' | readonly string[];
  listen?: string;
  /** Stands in for the resolver of this machine. */
  resolve?: Resolve;
}

/** Makes one, which is to be closed. */
export function testEgress(
  { hosts = 'auto', listen = '127.0.0.1', resolve }: EgressSetting = {},
): Egress {
  const http = {
    host: listen,
    port: 0,
    cookie_secure: true,
    cookie_prefix: 'svc',
    security_headers: true,
    max_body_bytes: 1,
    trust_proxy: false,
  };
  return createEgress({ http, egress: { private_hosts: hosts } }, resolve);
}
