// Whose mail is sent next, and what it costs to find out.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { claimMail, insertMail, removeMail } from '../../../storage/control/mail-queue.ts';
import { makeDatabase } from '../../../storage/provision/database.ts';
import { insertWorkspace } from '../../../storage/control/workspaces.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

const start = Date.UTC(2026, 0, 2);
const at = (seconds: number) => new Date(start + seconds * 1_000);
let own: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  for (const id of ['a', 'b', 'c']) {
    const database = await makeDatabase(storage.provisioning);
    await storage.databases.control.run((sql) =>
      insertWorkspace(sql, { id, name: id, database, now: at(0) })
    );
  }
});
afterAll(() => own.remove());
beforeEach(() => storage.databases.control.run((sql) => sql`delete from control.mail_queue`));

const unbounded = { mails: 1e6, bytes: 1e9 };

async function queue(workspace: string, seconds: number, { of_app = false } = {}): Promise<string> {
  const id = randomUUID();
  const mail = {
    id,
    workspace,
    of_app,
    sealed: Buffer.of(1),
    created_at: at(seconds),
    expires_at: at(9_999),
  };
  const { control } = storage.databases;
  expect(await control.run((sql) => insertMail(sql, mail, unbounded))).toBe(true);
  return id;
}

const turn = { now: at(100), last: at(1_000), leaseEnds: at(200), served: [], full: [], underWay: [] };
const claim = (sql: Sql, served: string[] = []) => claimMail(sql, { ...turn, served });

async function claimAll(served: string[] = []): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const mail = await storage.databases.control.run((sql) => claim(sql, served));
    if (mail === undefined) return ids;
    ids.push(mail.id);
  }
}

it('is the oldest that is due, the server’s own before those of apps', async () => {
  const ofApp = await queue('a', 1, { of_app: true });
  const [third, first, second] = [await queue('b', 30), await queue('c', 10), await queue('a', 20)];
  await queue('a', 101);
  expect(await claimAll()).toEqual([first, second, third, ofApp]);
});

it('is that of a workspace which is not being served before older ones of others', async () => {
  const [first, second] = [await queue('a', 1), await queue('a', 2)];
  const other = await queue('b', 50);
  const ofApp = await queue('c', 0, { of_app: true });
  expect(await claimAll(['a'])).toEqual([other, first, second, ofApp]);
});

it('is none of a workspace of which enough is under way', async () => {
  await queue('a', 1);
  await queue('a', 2, { of_app: true });
  const others = [await queue('b', 50), await queue('c', 0, { of_app: true })];
  const { control } = storage.databases;
  const next = () => control.run((sql) => claimMail(sql, { ...turn, full: ['a'] }));
  expect([(await next())?.id, (await next())?.id, await next()]).toEqual([...others, undefined]);
});

describe('what apps send', () => {
  const limits = { mails: 3, bytes: 100 };
  const post = (workspace: string, bytes: number, of_app = true) =>
    storage.databases.control.run((sql) => {
      const sealed = Buffer.alloc(bytes);
      const mail = { id: randomUUID(), workspace, of_app, sealed, created_at: at(1), expires_at: at(9_999) };
      return insertMail(sql, mail, limits);
    });

  it('is bounded by how much of their workspace waits, not by the server’s own nor by others’', async () => {
    for (let mails = 0; mails < limits.mails; mails++) await queue('a', 1);
    const taken: boolean[] = [];
    for (let mails = 0; mails <= limits.mails; mails++) taken.push(await post('a', 1));
    expect(taken).toEqual([true, true, true, false]);
    expect([await post('b', 60), await post('b', 41), await post('b', 40)]).toEqual([true, false, true]);
    expect(await claimAll()).toHaveLength(2 * limits.mails + 2);
  });

  it('bounds nothing of the server’s own, which has the same bound', async () => {
    for (let mails = 0; mails < limits.mails; mails++) expect(await post('a', 1)).toBe(true);
    const taken: boolean[] = [];
    for (let mails = 0; mails <= limits.mails; mails++) taken.push(await post('a', 1, false));
    expect(taken).toEqual([true, true, true, false]);
  });

  it('is taken again once some of it is sent', async () => {
    const { control } = storage.databases;
    expect([await post('a', 100), await post('a', 1)]).toEqual([true, false]);
    const [sent = ''] = await claimAll();
    expect(await post('a', 1)).toBe(false);
    await control.run((sql) => removeMail(sql, sent));
    expect(await post('a', 1)).toBe(true);
  });
});

it('is, behind what is due, one put off by a clock that has been set back since, but for what is being sent', async () => {
  await queue('a', 1_000);
  const [later, sent] = [await queue('a', 1_002), await queue('a', 1_001)];
  const first = await queue('a', 99);
  const { control } = storage.databases;
  const next = () => control.run((sql) => claimMail(sql, { ...turn, underWay: [sent] }));
  expect([(await next())?.id, (await next())?.id, (await next())?.id]).toEqual([first, later, undefined]);
});

it('is another one for each simultaneous claim', async () => {
  const ids = [await queue('a', 1), await queue('a', 2), await queue('b', 3), await queue('a', 4)];
  const { control } = storage.databases;
  const claimed = await control.transaction(async (sql) => {
    const mine = await claim(sql);
    return [mine?.id, ...await claimAll()];
  });
  expect(claimed).toHaveLength(4);
  expect(new Set(claimed)).toEqual(new Set(ids));
});

it('is found without reading the others that are due, however many they are', async () => {
  const { control } = storage.databases;
  await control.run((sql) =>
    sql`
    insert into control.mail_queue (id, workspace, sealed, next_attempt_at, expires_at, created_at)
    select gen_random_uuid(), 'a', ''::bytea, ${at(10)}::timestamptz + number * interval '1 ms',
      ${at(9_999)}, ${at(0)}
    from generate_series(1, 20000) as number`
  );
  const [ofB, ofApp] = [await queue('b', 90), await queue('c', 0, { of_app: true })];
  const [found, read] = await control.transaction(async (sql) => {
    const mail = await claim(sql, ['a']);
    const [counted] = await sql<{ rows: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
      where schemaname = 'control' and relname = 'mail_queue'`;
    return [mail?.id, counted?.rows];
  });
  expect(found).toBe(ofB);
  expect(found).not.toBe(ofApp);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(500);
});
