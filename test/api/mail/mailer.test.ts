// The queue of mail by a clock of the test's own: when a mail is tried again, taken over and given up.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Mailer, waitingLimits } from '../../../api/mail/mailer.ts';
import type { LogEvent } from '../../../api/logging/events.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { uuidV7Source } from '../../../storage/sql/ids.ts';
import { makeDatabase } from '../../../storage/provision/database.ts';
import { insertWorkspace } from '../../../storage/control/workspaces.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { type Provider, startProvider } from '../../harness/smtp.ts';
import { freshEmail } from '../../harness/users.ts';

let own: OwnInstallation;
let storage: Storage;
let provider: Provider;
let clock: number;
let facts: LogEvent[];
let couriers: Mailer[];

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  provider = await startProvider();
  for (const id of ['post', 'other']) {
    const database = await makeDatabase(storage.provisioning);
    await storage.databases.control.run((sql) =>
      insertWorkspace(sql, { id, name: id, database, now: new Date() })
    );
  }
});
afterAll(async () => {
  await provider.close();
  await own.remove();
});
beforeEach(() => {
  clock = Date.now();
  facts = [];
  couriers = [];
});
afterEach(async () => {
  provider.goOn();
  await Promise.all(couriers.map((courier) => courier.close()));
  await storage.databases.control.run((sql) => sql`delete from control.mail_queue`);
});

/** That of one process. */
function courier(): Mailer {
  const made = new Mailer({
    ...storage,
    config: {
      data_dir: '/nowhere',
      mail: { transport: 'smtp', from: 'Post <post@example.com>', smtp: { url: provider.url } },
    },
    now: () => new Date(clock),
    newId: uuidV7Source(Date.now),
    observe: (fact) => facts.push(fact),
  });
  couriers.push(made);
  return made;
}

const letterTo = (to: string, lifeSeconds = 3_600) => ({
  workspace: 'post',
  to,
  content: { subject: 'Hello', text: 'Hello' },
  lifeSeconds,
});

/** When the mails of the queue are due, in milliseconds from now. */
async function due(): Promise<number[]> {
  const rows = await storage.databases.control.run((sql) =>
    sql<{ at: Date }[]>`select next_attempt_at as at from control.mail_queue order by at`
  );
  return rows.map(({ at }) => at.getTime() - clock);
}

it('is tried again after 2 s, and after twice as long each time, up to 10 minutes', async () => {
  provider.mood = 'fails for now';
  await courier().enqueue(letterTo(freshEmail(), 86_400));
  const waits: number[] = [];
  for (let attempts = 1; attempts <= 11; attempts++) {
    await expect.poll(() => facts).toHaveLength(attempts);
    expect(facts.at(-1)).toMatchObject({ type: 'mail_failed', attempts, gives_up: false });
    // What is under way keeps it for a minute.
    await expect.poll(async () => (await due())[0]).not.toBe(60_000);
    const [wait = 0] = await due();
    waits.push(wait / 1_000);
    clock += wait;
    courier().start();
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
});

it('is tried again though the clock was set back since it was put off', async () => {
  provider.mood = 'fails for now';
  const email = freshEmail();
  await courier().enqueue(letterTo(email));
  await expect.poll(due).toEqual([2_000]);
  provider.mood = 'accepts';
  clock -= 3_600_000;
  courier().start();
  expect(await provider.mailsTo(email)).toHaveLength(1);
});

it('is left to the process that sends it for a minute, and then sent by another', async () => {
  provider.mood = 'has others wait';
  const before = provider.attempts;
  const email = freshEmail();
  await courier().enqueue(letterTo(email));
  await expect.poll(() => provider.attempts).toBe(before + 1);
  clock += 59_999;
  await courier().enqueue(letterTo(freshEmail()));
  await expect.poll(() => provider.attempts).toBe(before + 2);
  expect(await due()).toEqual([1, 60_000]);
  clock += 1;
  courier().start();
  await expect.poll(() => provider.attempts).toBe(before + 3);
  provider.goOn();
  expect(await provider.mailsTo(email, 2)).toHaveLength(2);
});

it('waits behind those of the server when it is an app’s', async () => {
  provider.mood = 'has others wait';
  const letter = {
    workspace: 'post',
    kind: 'otp',
    secret: '012345',
    lifeSeconds: 60,
    discard: false,
  } as const;
  await courier().enqueue(letterTo(freshEmail()));
  await courier().enqueue({ ...letter, to: freshEmail() });
  const rows = await storage.databases.control.run((sql) =>
    sql<{ of_app: boolean }[]>`select of_app from control.mail_queue order by id`
  );
  expect(rows.map(({ of_app }) => of_app)).toEqual([true, false]);
});

it('that is under way is waited for by a process that stops', async () => {
  provider.mood = 'has others wait';
  const before = provider.attempts;
  const stopping = courier();
  await stopping.enqueue(letterTo(freshEmail()));
  await expect.poll(() => provider.attempts).toBe(before + 1);
  const closed = stopping.close();
  provider.goOn();
  await closed;
  expect(await due()).toEqual([]);
});

it('is not sent any more once it has expired', async () => {
  provider.mood = 'fails for now';
  const [late, email] = [freshEmail(), freshEmail()];
  await courier().enqueue(letterTo(late, 60));
  await expect.poll(due).toEqual([2_000]);
  provider.mood = 'accepts';
  clock += 60_000;
  await courier().enqueue(letterTo(email));
  expect(await provider.mailsTo(email)).toHaveLength(1);
  await expect.poll(due).toEqual([]);
  expect(provider.mails.join()).not.toContain(late);
});

it('is given up when it would have expired by the next time', async () => {
  provider.mood = 'fails for now';
  await courier().enqueue(letterTo(freshEmail(), 2));
  await expect.poll(() => facts).toMatchObject([{ type: 'mail_failed', attempts: 1, gives_up: true }]);
  await expect.poll(due).toEqual([]);
});

it('of one workspace holds up none of another’s, whatever its recipients’ servers keep waiting', async () => {
  provider.mood = 'has others wait';
  const before = provider.attempts;
  const post = courier();
  await Promise.all(Array.from({ length: 30 }, () => post.enqueue(letterTo(freshEmail()))));
  await expect.poll(() => provider.attempts).toBeGreaterThanOrEqual(before + 4);
  provider.mood = 'accepts';
  const email = freshEmail();
  await post.enqueue({ ...letterTo(email), workspace: 'other' });
  expect(await provider.mailsTo(email)).toHaveLength(1);
  expect(provider.attempts).toBe(before + 5);
}, 30_000);

it('of apps is refused while too much of their workspace waits, and sent when there is room again', async () => {
  const { control } = storage.databases;
  await control.run((sql) =>
    sql`
    insert into control.mail_queue (id, workspace, sealed, next_attempt_at, expires_at, created_at, of_app)
    select gen_random_uuid(), 'post', ''::bytea, ${new Date(clock + 600_000)}, ${new Date(clock + 900_000)},
      ${new Date(clock)}, true
    from generate_series(1, ${waitingLimits.mails})`
  );
  provider.mood = 'accepts';
  const post = courier();
  const [email, own] = [freshEmail(), freshEmail()];
  await expect(post.enqueue(letterTo(email))).rejects.toMatchObject({
    code: 'too_many_requests',
    message: 'of the hooks of a workspace no more than 5000 mails or 64 MiB may wait to be sent',
  });
  await post.enqueue({
    workspace: 'post',
    kind: 'otp',
    secret: '012345',
    lifeSeconds: 60,
    discard: false,
    to: own,
  });
  expect(await provider.mailsTo(own)).toHaveLength(1);
  await control.run((sql) =>
    sql`delete from control.mail_queue where id = (select id from control.mail_queue where of_app limit 1)`
  );
  await post.enqueue(letterTo(email));
  expect(await provider.mailsTo(email)).toHaveLength(1);
});
