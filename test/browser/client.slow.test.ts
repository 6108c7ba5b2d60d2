// The session of the client after thousands of expiries, in several tabs at once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClientRig, clientRig } from './client-rig.ts';

const tabCount = 4;
const expiries = 10_000;

let rig: ClientRig;

beforeAll(async () => {
  rig = await clientRig();
}, 120_000);

afterAll(() => rig.close(), 60_000);

it(`${expiries} forced expiries end no session, and hang nowhere`, async () => {
  const first = await rig.signIn();
  const tabs = [first, ...await Promise.all(Array.from({ length: tabCount - 1 }, () => rig.tab()))];
  const work = `(async () => {
    const counts = { requests: 0, signedOut: 0, failed: 0, slowest: 0 };
    client.auth.onAuthChange((event) => event === 'signed_out' && counts.signedOut++);
    await client.auth.ready;
    for (let left = ${expiries / tabCount}; left > 0; left--) {
      const began = performance.now();
      client.auth.session.expires_at = 1;
      await client.auth.me().then(() => counts.requests++, () => counts.failed++);
      counts.slowest = Math.max(counts.slowest, performance.now() - began);
    }
    return counts;
  })()`;
  const counts = await Promise.all(tabs.map((tab) => tab.evaluate(work)));
  for (const one of counts) {
    expect(one).toMatchObject({ requests: expiries / tabCount, signedOut: 0, failed: 0 });
  }
  for (const one of counts) expect(Reflect.get(Object(one), 'slowest')).toBeLessThan(15_000);
}, 1_800_000);
