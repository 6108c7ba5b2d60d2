// Requests by HTTPS: the name of the URL is what the certificate must be for, whatever address it resolves to.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Egress } from '../../../api/egress/client.ts';
import { EgressError } from '../../../api/egress/failure.ts';
import { testCertificate, testKey } from '../../harness/certificate.ts';
import { testEgress } from '../../harness/egress.ts';

const trusted = getCACertificates('default');
let server: Server;
let port: number;
let egress: Egress;

beforeAll(async () => {
  server = createServer({ cert: testCertificate, key: testKey }, (request, response) => {
    response.end(JSON.stringify({ host: request.headers.host }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  egress = testEgress({ resolve: () => Promise.resolve(['127.0.0.1']) });
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await egress.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const ask = (host: string) =>
  egress.send({
    method: 'GET',
    url: new URL(`https://${host}:${port}/`),
    maxBytes: 1_000,
    timeoutMs: 60_000,
  });

/** The code of what went wrong below. */
async function causeOf(asked: Promise<unknown>): Promise<unknown> {
  const error = await asked.catch((error: unknown) => error);
  if (!(error instanceof EgressError)) return 'no failure';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? cause.code : cause;
}

describe('https', () => {
  it('is refused from a server without a trusted certificate', async () => {
    expect(await causeOf(ask('idp.example'))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  });

  it('works with a certificate for the name, and with none for another', async () => {
    setDefaultCACertificates([...trusted, testCertificate]);
    const { status, body } = await ask('idp.example');
    expect([status, JSON.parse(body.toString())]).toEqual([200, { host: `idp.example:${port}` }]);
    expect(await causeOf(ask('other.example'))).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});
