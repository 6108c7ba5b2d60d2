// Lockouts by the clock: the window slides, the lock ends, nothing is lost between parallel attempts.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Storage } from '../../storage/boot/boot.ts';
import { clearUnlessLocked, countFailure, findLock, pruneLockouts } from '../../storage/lockouts.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../harness/database.ts';

const limits = { failures: 5, windowMs: 300_000, lockMs: 300_000 };
const start = Date.UTC(2026, 0, 2);
let installation: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
});
afterAll(() => installation.remove());

const at = (seconds: number) => new Date(start + seconds * 1_000);

function failAt(subject: string, seconds: number) {
  return storage.databases.control.run((sql) =>
    countFailure(sql, 'control', { subject, now: at(seconds), limits })
  );
}

function lockAt(subject: string, seconds: number) {
  return storage.databases.control.run((sql) =>
    findLock(sql, 'control', { subjects: [subject], now: at(seconds) })
  );
}

describe('auth.lockout: the window', () => {
  it('locks with the fifth failure, for five minutes from it', async () => {
    const subject = randomUUID();
    for (const seconds of [0, 10, 20, 30]) {
      expect(await failAt(subject, seconds)).toEqual({ counted: true, lockedUntil: undefined });
    }
    expect(await failAt(subject, 40)).toEqual({ counted: true, lockedUntil: at(340) });
    expect(await lockAt(subject, 339)).toEqual(at(340));
    expect(await lockAt(subject, 340)).toBeUndefined();
  });

  it('slides: failures before the last five minutes do not count', async () => {
    const subject = randomUUID();
    for (const seconds of [0, 290, 295, 298]) await failAt(subject, seconds);
    expect(await failAt(subject, 301)).toEqual({ counted: true, lockedUntil: undefined });
    expect(await failAt(subject, 302)).toEqual({ counted: true, lockedUntil: at(602) });
  });

  it('does not count while it is locked, and begins anew afterwards', async () => {
    const subject = randomUUID();
    for (const seconds of [0, 1, 2, 3, 4]) await failAt(subject, seconds);
    expect(await failAt(subject, 100)).toEqual({ counted: false, lockedUntil: at(304) });
    expect(await lockAt(subject, 304)).toBeUndefined();
    for (const seconds of [305, 306, 307, 308]) {
      expect(await failAt(subject, seconds)).toEqual({ counted: true, lockedUntil: undefined });
    }
    expect((await failAt(subject, 309)).lockedUntil).toEqual(at(609));
  });

  it('holds nothing against anybody that a clock set back has made the future', async () => {
    const [locked, failed] = [randomUUID(), randomUUID()];
    for (const seconds of [0, 1, 2, 3, 4]) await failAt(locked, 86_400 + seconds);
    for (const seconds of [0, 1, 2, 3]) await failAt(failed, 86_400 + seconds);
    expect(await lockAt(locked, 0)).toBeUndefined();
    for (const subject of [locked, failed]) {
      for (const seconds of [0, 1, 2, 3]) {
        expect(await failAt(subject, seconds)).toEqual({ counted: true, lockedUntil: undefined });
      }
      expect((await failAt(subject, 4)).lockedUntil).toEqual(at(304));
      expect(await lockAt(subject, 5)).toEqual(at(304));
    }
  });

  it('counts five of 40 at once', async () => {
    const subject = randomUUID();
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => failAt(subject, 0)));
    expect(outcomes.filter(({ counted }) => counted)).toHaveLength(5);
    expect(outcomes.filter(({ counted, lockedUntil }) => !counted && lockedUntil !== undefined)).toHaveLength(
      35,
    );
  });
});

describe('a completed login', () => {
  const clear = (subject: string, seconds: number) =>
    storage.databases.control.run((sql) => clearUnlessLocked(sql, 'control', { subject, now: at(seconds) }));

  it('clears the count', async () => {
    const subject = randomUUID();
    for (const seconds of [0, 1, 2, 3]) await failAt(subject, seconds);
    expect(await clear(subject, 4)).toBeUndefined();
    expect((await failAt(subject, 5)).lockedUntil).toBeUndefined();
  });

  it('does not end a lock', async () => {
    const subject = randomUUID();
    for (const seconds of [0, 1, 2, 3, 4]) await failAt(subject, seconds);
    expect(await clear(subject, 5)).toEqual(at(304));
    expect(await lockAt(subject, 6)).toEqual(at(304));
  });

  it('auth.lockout: does not end a lock that a failure at the same time sets', async () => {
    const subject = randomUUID();
    for (const seconds of [0, 1, 2, 3]) await failAt(subject, seconds);
    const { control } = storage.databases;
    const waits = (sql: Sql) =>
      sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%delete from control.lockouts%'`;
    const { cleared } = await control.transaction(async (sql) => {
      await countFailure(sql, 'control', { subject, now: at(4), limits });
      const clearing = clear(subject, 4);
      await expect.poll(() => control.run(waits)).toHaveLength(1);
      return { cleared: clearing };
    });
    expect(await cleared).toEqual(at(304));
  });
});

describe('pruning', () => {
  it('removes what says nothing any more, and only that', async () => {
    const [old, recent] = [randomUUID(), randomUUID()];
    await failAt(old, 0);
    await failAt(recent, 500);
    await storage.databases.control.run((sql) => pruneLockouts(sql, 'control', { now: at(700), limits }));
    const left = await storage.databases.control.run((sql) =>
      sql<{ subject: string }[]>`select subject from control.lockouts where subject in (${old}, ${recent})`
    );
    expect([...left]).toEqual([{ subject: recent }]);
  });
});
