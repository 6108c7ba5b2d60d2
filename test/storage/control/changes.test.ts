// Notifications between processes.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Change, listenForChanges, notifyChange } from '../../../storage/control/changes.ts';
import { clusterEndpoint, type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

/** Listens, and lets a test wait for notifications. */
async function hear() {
  const heard: (Change | 'gap')[] = [];
  let wake = () => {};
  const note = (what: Change | 'gap') => {
    heard.push(what);
    wake();
  };
  const listening = await listenForChanges(own.access, {
    onChange: note,
    onResync: () => note('gap'),
  });
  const until = async (count: number) => {
    while (heard.length < count) await new Promise<void>((resolve) => wake = resolve);
    return heard;
  };
  return { until, heard, ask: () => listening.ping(), stop: () => listening.stop() };
}

it('receives what is published, after the commit and not without it', async () => {
  const { until, stop } = await hear();
  const rolledBack = own.as(
    {},
    (sql) =>
      sql.unsafe('begin').then(() => notifyChange(sql, { kind: 'workspace', workspace: 'never' })).then(() =>
        sql.unsafe('rollback')
      ),
  );
  await rolledBack;
  await own.as({}, (sql) => notifyChange(sql, { kind: 'workspace', workspace: 'a' }));
  await own.as({}, (sql) => notifyChange(sql, { kind: 'app', workspace: 'a', app: 'b' }));
  await own.as({}, (sql) => notifyChange(sql, { kind: 'revocations' }));
  expect(await until(4)).toEqual([
    'gap',
    { kind: 'workspace', workspace: 'a' },
    { kind: 'app', workspace: 'a', app: 'b' },
    { kind: 'revocations' },
  ]);
  await stop();
});

it('takes a message that it does not understand for a gap', async () => {
  const { until, stop } = await hear();
  for (const text of ['', 'x', '7', '{"kind":"app"}', '{"kind":"of the future"}']) {
    await own.as({}, (sql) => sql`select pg_notify('bulkhead_changed', ${text})`);
  }
  expect(await until(6)).toEqual(Array(6).fill('gap'));
  await stop();
});

it('listens again when its connection is lost, and says that something may have been missed', async () => {
  const { until, stop } = await hear();
  await until(1);
  for (let round = 1; round <= 3; round++) {
    await own.as({}, (sql) =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`);
    expect((await until(2 * round)).at(-1)).toBe('gap');
    await own.as({}, (sql) => notifyChange(sql, { kind: 'setup' }));
    expect((await until(2 * round + 1)).at(-1)).toEqual({ kind: 'setup' });
  }
  await stop();
});

it('has received all that was published before a ping', async () => {
  const { heard, ask, stop } = await hear();
  for (let round = 1; round <= 50; round++) {
    await own.as({}, (sql) => notifyChange(sql, { kind: 'app', workspace: 'a', app: `b${round}` }));
    await ask();
    expect(heard).toHaveLength(1 + round);
  }
  await stop();
});

it('rejects a ping while it cannot listen', async () => {
  const { until, ask, stop } = await hear();
  await until(1);
  const { database } = own.access;
  const elsewhere = clusterEndpoint();
  await own.as(elsewhere, (sql) => sql.unsafe(`alter database ${database} connection limit 0`));
  await own.as(
    elsewhere,
    (sql) =>
      sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${database ?? ''}`,
  );
  for (let round = 0; round < 3; round++) {
    await expect(ask()).rejects.toMatchObject({ failure: 'unavailable' });
  }
  await own.as(elsewhere, (sql) => sql.unsafe(`alter database ${database} connection limit -1`));
  expect((await until(2)).at(-1)).toBe('gap');
  await ask();
  await stop();
});

it('throws when it cannot begin to listen', async () => {
  const nowhere = { ...own.access, host: '/nowhere' };
  const deaf = () => undefined;
  const listening = listenForChanges(nowhere, { onChange: deaf, onResync: deaf });
  await expect(listening).rejects.toMatchObject({ failure: 'unavailable' });
});
