// Turns of work that nothing can interrupt.
import { once } from 'node:events';
import { request } from 'node:http';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLargeBodyQueue } from '../../../../api/http/protection/large-body-queue.ts';
import { expectOk, type OwnWorkspace, ownWorkspace, serverUrl } from '../../../harness/api.ts';

const workMilliseconds = 40;

it('pieces of work leave each other’s time to others', async () => {
  const turns = createLargeBodyQueue();
  const spans: { began: number; ended: number }[] = [];
  const work = async () => {
    await turns('acme');
    const began = performance.now();
    while (performance.now() - began < workMilliseconds);
    spans.push({ began, ended: performance.now() });
  };
  await Promise.all([work(), work(), work(), work()]);
  const rests = spans.slice(1).map(({ began }, index) => began - (spans[index]?.ended ?? 0));
  expect(rests).toHaveLength(3);
  for (const rest of rests) expect(rest).toBeGreaterThan(workMilliseconds * 0.9);
  await nextRound();
  const before = performance.now();
  await work();
  expect(spans.at(-1)?.began).toBeGreaterThan(before);
});

it('workspaces take turns, however much there is to do for one', async () => {
  const turns = createLargeBodyQueue();
  const done: (string | undefined)[] = [];
  const asked = ['loud', 'loud', 'loud', 'loud', 'acme', undefined, 'acme'];
  await Promise.all(asked.map((workspace) => turns(workspace).then(() => done.push(workspace))));
  expect(done).toEqual(['loud', 'acme', undefined, 'loud', 'acme', 'loud', 'loud']);
});

/** A large body, all of which but its last byte is sent. */
async function beginLarge({ path, admin }: OwnWorkspace) {
  const body = JSON.stringify({ name: Array(90_000).fill(1), id: 'x'.repeat(200_000) });
  const headers = {
    'Authorization': `Bearer ${admin.token}`,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
  };
  const outgoing = request(`${serverUrl()}${path}/apps`, { method: 'POST', headers, agent: false });
  await new Promise((resolve) => outgoing.write(body.slice(0, -1), resolve));
  return async () => {
    outgoing.end(body.slice(-1));
    const [response] = await once(outgoing, 'response');
    response.resume();
    return response.statusCode;
  };
}

it('a large body does not wait for all those of another workspace that came before it', async () => {
  const [loud, acme] = [await ownWorkspace(), await ownWorkspace()];
  const ends = await Promise.all(Array.from({ length: 12 }, () => beginLarge(loud)));
  const end = await beginLarge(acme);
  // Whatever was sent before has been read by then.
  expectOk(await acme.admin.get(`${acme.path}/apps`));
  const answered: string[] = [];
  const send = async (name: string, end: () => Promise<number>) => {
    expect(await end()).toBe(400);
    answered.push(name);
  };
  await Promise.all([...ends.map((end) => send('loud', end)), send('acme', end)]);
  expect(answered.at(-1)).toBe('loud');
});
