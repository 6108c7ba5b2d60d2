// Whom another look at the rights of open streams keeps waiting.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fail } from '../../api/errors.ts';
import { openEvents } from './event-client.ts';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

it('sse.authz-live: a stream is looked at again while the database of another app does not answer', async () => {
  const stuck = await openEvents(rig.port, { token: 'bob', path: '/stuck/orders' });
  const ada = await openEvents(rig.port, { token: 'ada' });
  const never = new Promise<never>(() => undefined);
  rig.gate.rule = ({ topic: { app } }) =>
    app === 'stuck' ? never : fail('forbidden', 'the rule does not allow that');
  rig.gate.changed({ workspace: 'acme' });
  await ada.closed;
  expect([ada.body.includes('forbidden'), stuck.socket.closed]).toEqual([true, false]);
  stuck.socket.destroy();
});
