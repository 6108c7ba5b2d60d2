// Revocations that a process hears of late, or from a clock that was ahead of its own.
import { expect, it } from 'vitest';
import type { Revocations } from '../../../../api/auth/tokens/revocations.ts';
import { uuidTime } from '../../../../storage/sql/ids.ts';
import { insertRevocations } from '../../../../storage/control/revocations.ts';
import { ownRevocations } from '../../../harness/own-revocations.ts';

const own = await ownRevocations();

/** Of a process whose clock is so far ahead. */
const open = (ahead = 0) => own.open(() => Date.now() + ahead);

/** Whether a token of this user is good. */
function isGood(revocations: Revocations, id: string, issuedAt: number): boolean {
  const principal = { role: 'user', id, workspace: 'acme', jti: 'x', issuedAt: 0, expiresAt: 0 } as const;
  return revocations.judge({ principal, narrowed: false, issuedAt }) !== undefined;
}

it('who logs in after a revocation by a clock that is ahead has a token that is good', () => {
  const [here, there] = [open(), open(60_000)];
  const row = there.row('subject', 'ida');
  here.apply([row]);
  expect(isGood(here, 'ida', Date.now())).toBe(false);
  expect(isGood(here, 'ida', uuidTime(here.newId()))).toBe(true);
});

it('what was missed is read although the database does not respond at first', async () => {
  const revocations = open();
  const { control } = own.storage.databases;
  const rows = [revocations.row('subject', 'kim')];
  await control.transaction((sql) => insertRevocations(sql, rows));
  await revocations.reload();
  const missed = [revocations.row('subject', 'eve')];
  await control.transaction(async (sql) => {
    await insertRevocations(sql, missed);
    await sql`update control.revocations set created_at = now() - interval '5 minutes' where key = 'eve'`;
  });
  const run = control.run.bind(control);
  let isAway = true;
  control.run = async (work) => {
    if (!isAway) return await run(work);
    isAway = false;
    throw new Error('the database is away');
  };
  await revocations.reload().finally(() => control.run = run);
  expect(isGood(revocations, 'eve', 0)).toBe(false);
});

it('what is revoked after the clock of the database was set back counts in every process', async () => {
  const [here, there] = [open(), open()];
  const { control } = own.storage.databases;
  await control.transaction(async (sql) => {
    await insertRevocations(sql, [there.row('subject', 'ann')]);
    await sql`update control.revocations set created_at = now() + interval '10 minutes' where key = 'ann'`;
  });
  await here.catchUp();
  expect(isGood(here, 'ann', 0)).toBe(false);
  await control.transaction((sql) => insertRevocations(sql, [there.row('subject', 'bob')]));
  await here.catchUp();
  expect(isGood(here, 'bob', 0)).toBe(false);
});
