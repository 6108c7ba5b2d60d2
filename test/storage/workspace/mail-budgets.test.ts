// Budgets of mail by the clock: a burst, then one at a time, for each address and purpose by itself.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import { type MailPurpose, spendMail } from '../../../storage/workspace/mail-budgets.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeTenant } from '../../harness/tenants.ts';

const limits = { burst: 5, everySeconds: 60 };
const start = Date.UTC(2026, 0, 2);
let installation: OwnInstallation;
let storage: Storage;
let database: string;

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
  ({ database } = await makeTenant(storage));
});
afterAll(() => installation.remove());

function spendAt(email: string, seconds: number, purpose: MailPurpose = 'otp'): Promise<boolean> {
  const now = new Date(start + seconds * 1_000);
  return storage.databases.workspace(database).run((sql) => spendMail(sql, { purpose, email, now, limits }));
}

async function spendEach(email: string, times: readonly number[]): Promise<boolean[]> {
  const spent: boolean[] = [];
  for (const seconds of times) spent.push(await spendAt(email, seconds));
  return spent;
}

describe('the budget of an address', () => {
  it('allows five mails at once, and what is refused costs nothing', async () => {
    const email = randomUUID();
    expect(await spendEach(email, [0, 0, 0, 0, 0, 0, 0, 59])).toEqual(
      [true, true, true, true, true, false, false, false],
    );
    expect(await spendEach(email, [60, 60, 119, 120])).toEqual([true, false, false, true]);
  });

  it('is as empty as can be, and no emptier, once a clock that was a day ahead is set back', async () => {
    const email = randomUUID();
    for (const ahead of [86_400, 86_400, 86_400]) expect(await spendAt(email, ahead)).toBe(true);
    expect(await spendEach(email, [0, 59, 60, 60, 120])).toEqual([false, false, true, false, true]);
  });

  it('is whole again after five minutes, and no more than whole after a day', async () => {
    const email = randomUUID();
    const six = (seconds: number) => Array(6).fill(seconds);
    const fiveOfSix = [true, true, true, true, true, false];
    expect(await spendEach(email, six(0))).toEqual(fiveOfSix);
    expect(await spendEach(email, six(300))).toEqual(fiveOfSix);
    expect(await spendEach(email, six(86_400))).toEqual(fiveOfSix);
  });

  it('is one for each purpose', async () => {
    const email = randomUUID();
    await spendEach(email, [0, 0, 0, 0, 0]);
    expect(await spendAt(email, 0, 'password_reset')).toBe(true);
    expect(await spendAt(email, 0)).toBe(false);
  });

  it('is not overdrawn by 20 requests at once', async () => {
    const email = randomUUID();
    const spent = await Promise.all(Array.from({ length: 20 }, () => spendAt(email, 0)));
    expect(spent.filter(Boolean)).toHaveLength(5);
  });

  it('leaves no row once it is whole', async () => {
    const email = randomUUID();
    await spendAt(email, 100_000);
    await spendAt(randomUUID(), 100_060);
    const rows = await storage.databases.workspace(database).run((sql) =>
      sql`select from workspace.mail_budgets where email = ${email}`
    );
    expect(rows).toHaveLength(0);
  });
});
