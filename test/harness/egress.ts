// The guarded client for tests that call it themselves.
import { createEgress, type Egress, type EgressRequest } from '../../api/egress/client.ts';
import type { Resolve } from '../../api/egress/names.ts';

/** How it differs from that of a server which is told to reach loopback. */
export interface EgressSetting {
  hosts?: 'deny' | 'loopback' | 'allow' | readonly string[];
  /** Ports of the server itself. */
  ownPorts?: readonly number[];
  /** Stands in for the resolver of this machine. */
  resolve?: Resolve;
}

/** Makes one, which is to be closed. */
export function testEgress({ hosts = 'loopback', ownPorts = [], resolve }: EgressSetting = {}): Egress {
  const egress = createEgress({ egress: { private_hosts: hosts } }, resolve);
  for (const port of ownPorts) egress.closePort(port);
  return egress;
}

/** The status of a response, or why there is none. How long it may take is the test's to say: a busy machine takes long. */
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
