// The guarded client for tests that call it themselves.
import { createEgress, type Egress, type EgressRequest } from '../../api/egress/client.ts';
import type { Resolve } from '../../api/egress/names.ts';
import type { Wall } from '../../api/egress/wall.ts';

/** How it differs from that of a server which listens on the loopback only. */
export interface EgressSetting {
  hosts?: 'auto' | 'deny' | 'allow' | readonly string[];
  listen?: string;
  /** Stands in for the resolver of this machine. */
  resolve?: Resolve;
}

type WallConfig = ConstructorParameters<typeof Wall>[0];

/** The part of a server's configuration that says what may be reached. */
export function egressConfig({ hosts = 'auto', listen = '127.0.0.1' }: EgressSetting = {}): WallConfig {
  const http = {
    host: listen,
    port: 0,
    cookie_secure: true,
    cookie_prefix: 'svc',
    security_headers: true,
    max_body_bytes: 1,
    trust_proxy: false,
  };
  return { http, egress: { private_hosts: hosts } };
}

/** Makes one, which is to be closed. */
export function testEgress(setting: EgressSetting = {}): Egress {
  return createEgress(egressConfig(setting), setting.resolve);
}

/** The status of an answer, or why there is none. How long it may take is the test's to say: a busy machine takes long. */
export async function ask(
  egress: Egress,
  url: string,
  more: Partial<EgressRequest> = {},
): Promise<number | string> {
  try {
    const request = { method: 'GET', url: new URL(url), maxBytes: 1_000, milliseconds: 60_000, ...more };
    return (await egress.send(request)).status;
  } catch (error) {
    return error instanceof Error && 'failure' in error ? String(error.failure) : String(error);
  }
}
