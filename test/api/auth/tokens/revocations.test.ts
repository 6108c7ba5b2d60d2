// Revocations: what is left of a token, and how processes agree on it.
import { beforeEach, describe, expect, it } from 'vitest';
import type { IssuedToken } from '../../../../api/auth/tokens/claims.ts';
import type { Revocations } from '../../../../api/auth/tokens/revocations.ts';
import type { LogEvent } from '../../../../api/logging/events.ts';
import type { Principal } from '../../../../api/scope.ts';
import { insertRevocations, type RevocationRow } from '../../../../storage/control/revocations.ts';
import { ownRevocations } from '../../../harness/own-revocations.ts';

const own = await ownRevocations();
let clock = 1_800_000_000_000;
let facts: LogEvent[] = [];

beforeEach(() => {
  facts = [];
});

const open = () => own.open(() => clock, (fact) => facts.push(fact));

function token(
  principal: Partial<Principal>,
  options: { narrowed?: boolean; issuedAt?: number } = {},
): IssuedToken {
  const { narrowed = false, issuedAt = clock } = options;
  return {
    principal: {
      role: 'app_admin',
      id: 'ann',
      workspace: 'acme',
      apps: ['a'],
      jti: 'a-jti',
      issuedAt: 0,
      expiresAt: 0,
      ...principal,
    },
    narrowed,
    issuedAt,
  };
}

/** Revokes at the clock's time, then lets it go on. */
function revoke(revocations: Revocations, ...args: Parameters<Revocations['row']>): RevocationRow {
  const row = revocations.row(...args);
  revocations.apply([row]);
  clock += 1_000;
  return row;
}

describe('a revoked token', () => {
  it('is one by its jti, for good', () => {
    const revocations = open();
    revoke(revocations, 'jti', 'a-jti');
    expect(revocations.judge(token({}))).toBeUndefined();
    expect(revocations.judge(token({ jti: 'another' }))).toBeDefined();
  });

  it('is one of a subject that was issued up to the instant, but for the one that is spared', () => {
    const revocations = open();
    const old = token({});
    revoke(revocations, 'subject', 'ann', { spared: 'spared' });
    expect(revocations.judge(old)).toBeUndefined();
    expect(revocations.judge({ ...old, principal: { ...old.principal, jti: 'spared' } })).toBeDefined();
    expect(revocations.judge(token({}))).toBeDefined();
    expect(revocations.judge({ ...old, principal: { ...old.principal, id: 'bob' } })).toBeDefined();
  });

  it('is one of a workspace that was issued before it was deleted', () => {
    const revocations = open();
    const old = token({});
    const user = token({ role: 'user', id: 'ulf' });
    revoke(revocations, 'workspace', 'acme');
    expect(revocations.judge(old)).toBeUndefined();
    expect(revocations.judge(user)).toBeUndefined();
    expect(revocations.judge(token({}))).toBeDefined();
    expect(revocations.judge({ ...old, principal: { ...old.principal, workspace: 'other' } })).toBeDefined();
  });
});

describe('a token whose admin has other rights now', () => {
  it('acts with them', () => {
    const revocations = open();
    const old = token({});
    revoke(revocations, 'scope', 'ann', { role: 'app_admin', apps: ['b', 'c'] });
    expect(revocations.judge(old)).toMatchObject({ role: 'app_admin', apps: ['b', 'c'] });
    revoke(revocations, 'scope', 'ann', { role: 'workspace_admin' });
    expect(revocations.judge(old)).toMatchObject({ role: 'workspace_admin' });
    expect(revocations.judge(old)).not.toHaveProperty('apps');
  });

  it('that was issued since has its own', () => {
    const revocations = open();
    revoke(revocations, 'scope', 'ann', { role: 'app_admin', apps: ['b'] });
    expect(revocations.judge(token({ apps: ['c'] }))).toMatchObject({ apps: ['c'] });
  });

  it('never gains by it when it was asked for less', () => {
    const revocations = open();
    const old = token({ apps: ['a'] }, { narrowed: true });
    revoke(revocations, 'scope', 'ann', { role: 'workspace_admin' });
    expect(revocations.judge(old)).toMatchObject({ role: 'app_admin', apps: ['a'] });
    revoke(revocations, 'scope', 'ann', { role: 'app_admin', apps: ['b'] });
    expect(revocations.judge(old)).toMatchObject({ role: 'app_admin', apps: [] });
  });

  it('gets no later app of an id when it was asked for less', () => {
    const revocations = open();
    const old = token({ apps: ['a'] }, { narrowed: true });
    revoke(revocations, 'app', 'acme/a');
    revoke(revocations, 'scope', 'ann', { role: 'workspace_admin' });
    expect(revocations.judge(old)).toMatchObject({ apps: [] });
  });

  it('loses an app that was deleted, and gets a later one of the same id only from the master', () => {
    const revocations = open();
    const old = token({ apps: ['a', 'b'] });
    revoke(revocations, 'app', 'acme/a');
    expect(revocations.judge(old)).toMatchObject({ apps: ['b'] });
    expect(revocations.judge(token({ apps: ['a'] }))).toMatchObject({ apps: ['a'] });
    revoke(revocations, 'scope', 'ann', { role: 'app_admin', apps: ['a', 'b'] });
    expect(revocations.judge(old)).toMatchObject({ apps: ['a', 'b'] });
    revoke(revocations, 'app', 'acme/a');
    expect(revocations.judge(old)).toMatchObject({ apps: ['b'] });
  });
});

describe('the instant of a revocation', () => {
  it('is never before an id that was given out, even if the clock goes back', () => {
    const revocations = open();
    const before = revocations.instant();
    clock -= 60_000;
    expect(revocations.instant().getTime()).toBeGreaterThanOrEqual(before.getTime());
    clock += 60_000;
  });
});

describe('several processes', () => {
  it('agree after the one that did not write has caught up', async () => {
    const [here, there] = [open(), open()];
    await there.reload();
    const old = token({ id: 'eve' });
    const rows = [here.row('subject', 'eve')];
    await own.storage.databases.control.transaction((sql) => insertRevocations(sql, rows));
    expect(there.judge(old)).toBeDefined();
    const version = there.version;
    await there.catchUp();
    expect(there.judge(old)).toBeUndefined();
    expect(there.version).toBeGreaterThan(version);
  });

  it('agree on one that was written before another was read, and whose transaction ended after that', async () => {
    const [here, there] = [open(), open()];
    await there.reload();
    const { control } = own.storage.databases;
    await control.transaction(async (slow) => {
      await insertRevocations(slow, [here.row('subject', 'tom')]);
      await control.transaction((sql) => insertRevocations(sql, [here.row('subject', 'kim')]));
      await there.catchUp();
      expect(there.judge(token({ id: 'kim' }))).toBeUndefined();
      expect(there.judge(token({ id: 'tom' }))).toBeDefined();
    });
    await there.catchUp();
    expect(there.judge(token({ id: 'tom' }))).toBeUndefined();
  });

  it('may revoke the same at once, in whatever order', async () => {
    const [here, there] = [open(), open()];
    const { control } = own.storage.databases;
    for (let round = 0; round < 50; round++) {
      const keys = Array.from({ length: 5 }, (_, index) => `${round}-${index}`);
      const rows = keys.map((key) => here.row('jti', key));
      await Promise.all(
        [rows, rows.toReversed()].map((some) => control.transaction((sql) => insertRevocations(sql, some))),
      );
    }
    await there.reload();
    expect(there.judge(token({ jti: '49-4' }))).toBeUndefined();
  });

  it('keep the later of two revocations, whichever is written last', async () => {
    const [here, there] = [open(), open()];
    const early = here.row('subject', 'max');
    clock += 5_000;
    const late = here.row('subject', 'max');
    for (const row of [late, early]) {
      await own.storage.databases.control.transaction((sql) => insertRevocations(sql, [row]));
    }
    await there.reload();
    expect(there.judge(token({ id: 'max' }, { issuedAt: late.not_before.getTime() }))).toBeUndefined();
    here.apply([late, early]);
    expect(here.judge(token({ id: 'max' }, { issuedAt: late.not_before.getTime() }))).toBeUndefined();
  });

  it('forget nothing when the database does not respond for a while', async () => {
    const revocations = open();
    const { control } = own.storage.databases;
    const run = control.run.bind(control);
    let failures = 2;
    control.run = async (work) => {
      if (failures-- > 0) throw new Error('the database is away');
      return await run(work);
    };
    try {
      await revocations.reload();
    } finally {
      control.run = run;
    }
    expect(facts.filter(({ type }) => type === 'background_failed')).toHaveLength(2);
    expect(revocations.judge(token({ id: 'eve' }, { issuedAt: 0 }))).toBeUndefined();
  });

  it('do not read what no token is left for', async () => {
    const revocations = open();
    const row = revocations.row('subject', 'zoe');
    await own.storage.databases.control.transaction((sql) => insertRevocations(sql, [row]));
    clock += 901_000;
    await revocations.reload();
    expect(revocations.judge(token({ id: 'zoe' }, { issuedAt: 0 }))).toBeDefined();
  });
});
