// The budgets of mail on request, by a clock that stands still.
import { beforeEach, expect, it } from 'vitest';
import type { LogEvent } from '../../../api/logging/events.ts';
import { SpentShares } from '../../../api/logging/spent-shares.ts';
import type { Policies } from '../../../api/policies/effective.ts';
import { MailBudgets } from '../../../api/usage/mail-budgets.ts';

let clock = 0;
let events: LogEvent[] = [];
let budgets: MailBudgets;

beforeEach(() => {
  clock = 1_000_000;
  events = [];
  const limits: Record<string, number> = { 'quota.mails_per_client_hour': 6, 'quota.mails_per_hour': 9 };
  const policies: Policies = {
    range: (name) => Promise.resolve({ min: 0, max: limits[name] ?? 0, value: 0 }),
    toggle: () => Promise.resolve(false),
    set: () => Promise.resolve([]),
  };
  const now = () => new Date(clock);
  const observe = (event: LogEvent) => events.push(event);
  budgets = new MailBudgets({ policies, now, spentShares: new SpentShares({ observe, now }) });
});

async function spend(workspace: string, ip: string, times: number): Promise<number> {
  let spent = 0;
  for (let count = 0; count < times; count++) if (await budgets.spend(workspace, ip)) spent++;
  return spent;
}

it('are a client’s and its workspace’s, come back within the hour, and bind nobody else', async () => {
  expect(await spend('a', '192.0.2.1', 100)).toBe(6);
  // What the first client was refused has cost the workspace nothing.
  expect(await spend('a', '192.0.2.2', 100)).toBe(3);
  expect(await spend('b', '192.0.2.1', 100)).toBe(6);
  clock += 600_000;
  expect(await spend('a', '192.0.2.1', 100)).toBe(1);
  clock += 3_600_000;
  expect(await spend('a', '192.0.2.1', 100)).toBe(6);
});

it('count the addresses of one network as one client', async () => {
  expect(await spend('a', '2001:db8::1', 100)).toBe(6);
  expect(await spend('a', '2001:db8::2', 100)).toBe(0);
});

it('are logged when they are spent, once a minute for each who spends', async () => {
  await spend('a', '192.0.2.1', 100);
  await spend('a', '192.0.2.2', 100);
  const ofClient = { type: 'share_spent', share: 'quota.mails_per_client_hour', workspace: 'a' };
  const ofWorkspace = {
    type: 'share_spent',
    share: 'quota.mails_per_hour',
    workspace: 'a',
    client: undefined,
  };
  expect(events).toEqual([
    { ...ofClient, client: '192.0.2.1' },
    ofWorkspace,
    { ...ofClient, client: '192.0.2.2' },
  ]);
  clock += 60_000;
  await spend('a', '192.0.2.1', 100);
  expect(events).toHaveLength(4);
});
