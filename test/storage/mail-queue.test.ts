// Whose mail is sent next, and what it costs to find out.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Storage } from '../../storage/boot/boot.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { claimMail, insertMail } from '../../storage/mail-queue.ts';
import { makeDatabase } from '../../storage/provision/database.ts';
import { insertWorkspace } from '../../storage/workspaces.ts';
import { type OwnInstallation, ownInstallation } from '../harness/database.ts';

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

async function queue(workspace: string, seconds: number, { of_app = false } = {}): Promise<string> {
  const id = randomUUID();
  const mail = {
    id,
    workspace,
    sealed: Buffer.of(1),
    created_at: at(seconds),
    expires_at: at(9_999),
    of_app,
  };
  await storage.databases.control.run((sql) => insertMail(sql, mail));
  return id;
}

const turn = { now: at(100), last: at(1_000), leaseEnds: at(200), served: [], underWay: [] };
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

it('is that of a workspace which nobody serves before older ones of others', async () => {
  const [first, second] = [await queue('a', 1), await queue('a', 2)];
  const other = await queue('b', 50);
  const ofApp = await queue('c', 0, { of_app: true });
  expect(await claimAll(['a'])).toEqual([other, first, second, ofApp]);
});

it('is, behind what is due, one put off by a clock that has been set back since, but for what is being sent', async () => {
  await queue('a', 1_000);
  const [later, sent] = [await queue('a', 1_002), await queue('a', 1_001)];
  const first = await queue('a', 99);
  const { control } = storage.databases;
  const next = () => control.run((sql) => claimMail(sql, { ...turn, underWay: [sent] }));
  expect([(await next())?.id, (await next())?.id, (await next())?.id]).toEqual([first, later, undefined]);
});

it('is another one for each who asks at once', async () => {
  const ids = [await queue('a', 1), await queue('a', 2), await queue('b', 3), await queue('a', 4)];
  const { control } = storage.databases;
  const claimed = await control.transaction(async (sql) => {
    const mine = await claim(sql);
    return [mine?.id, ...await claimAll()];
  });
  expect(claimed).toHaveLength(4);
  expect(new Set(claimed)).toEqual(new Set(ids));
});

it('is found without looking at the others that are due, of however many mails', async () => {
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
