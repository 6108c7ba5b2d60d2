// Idle connections: their own time-out is longer than that of a request's headers, and counts alone.
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';

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
