// Which path a request line names: what is there, unresolved.
import { expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

it.each([
  '/healthz/.',
  '/./healthz',
  '/x/../healthz',
  '/x/..\\healthz',
  '/x\\..\\healthz',
  '/%2e/healthz',
  '/x/%2E%2e/healthz?y',
  '/x/.%2e/healthz#y',
  'http://x/x/../healthz',
  '/x/..%2fhealthz',
  '/x%2f..%2fhealthz',
  '/x/..%5chealthz',
])('http.limits: %s is no other path that it could be resolved to', async (path) => {
  const response = await sendRaw(serverUrl(), `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(response).toMatchObject({ status: 404, body: expect.stringContaining('"not_found"') });
});

it.each(['/healthz?/../x', '/healthz#/../x', '/%68ealthz', '/healthz/', 'http://x/healthz?\\'])(
  '%s is a path as it is',
  async (path) => {
    const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(serverUrl(), bytes)).toMatchObject({ status: 200 });
  },
);
