// Idle connections: their own time-out is longer than that of a request's headers, and counts alone.
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { startServer } from '../../harness/server.ts';

/** The server closes a connection whose request takes longer to send its headers. */
const headersTimeoutMs = 10_000;

it('an idle connection stays open for longer than the headers of a request may take', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<boolean>((resolve, reject) => {
      const request = get(`${serverUrl()}/healthz`, { agent }, (response) => {
        response.resume().once('end', () => resolve(request.reusedSocket));
      }).once('error', reject);
    });
  try {
    expect(await ask()).toBe(false);
    await pause(headersTimeoutMs * 1.3);
    expect(await ask()).toBe(true);
  } finally {
    agent.destroy();
  }
});

it('a connection stays open for seconds after the time that its client was told: the client may be late', async () => {
  const server = await startServer({ config: { http: { keep_alive_ms: 1_000 } } });
  try {
    const response = await sendRaw(server.url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(response.headers.get('Keep-Alive')).toBe('timeout=1');
    expect(response.milliseconds).toBeGreaterThan(10_000);
  } finally {
    await server.stop();
  }
});
