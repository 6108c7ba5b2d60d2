// The mail queue by a clock of the test: when a mail is retried, taken over and given up.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Mailer, waitingLimits } from '../../../api/mail/mailer.ts';
import { SpentShares } from '../../../api/logging/spent-shares.ts';
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
let events: LogEvent[];
let mailers: Mailer[];

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
  events = [];
  mailers = [];
});
afterEach(async () => {
  provider.goOn();
  await Promise.all(mailers.map((mailer) => mailer.close()));
  await storage.databases.control.run((sql) => sql`delete from control.mail_queue`);
});

/** A mailer, as one process has it. */
function makeMailer(): Mailer {
  const observe = (event: LogEvent) => events.push(event);
  const made = new Mailer({
    ...storage,
    config: {
      data_dir: '/nowhere',
      mail: { transport: 'smtp', from: 'Post <post@example.com>', smtp: { url: provider.url } },
    },
    now: () => new Date(clock),
    newId: uuidV7Source(Date.now),
    observe,
    spentShares: new SpentShares({ observe, now: () => new Date(clock) }),
  });
  mailers.push(made);
  return made;
}

const messageTo = (to: string, lifeSeconds = 3_600) => ({
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

it('retries a mail after 2 s, and after twice as long each time, up to 10 minutes', async () => {
  provider.mood = 'fails for now';
  await makeMailer().enqueue(messageTo(freshEmail(), 86_400));
  const waits: number[] = [];
  for (let attempts = 1; attempts <= 11; attempts++) {
    await expect.poll(() => events).toHaveLength(attempts);
    expect(events.at(-1)).toMatchObject({ type: 'mail_failed', attempts, gives_up: false });
    // The attempt holds a lease of a minute.
    await expect.poll(async () => (await due())[0]).not.toBe(60_000);
    const [wait = 0] = await due();
    waits.push(wait / 1_000);
    clock += wait;
    makeMailer().start();
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
});

it('retries a mail though the clock was set back since it was postponed', async () => {
  provider.mood = 'fails for now';
  const email = freshEmail();
  await makeMailer().enqueue(messageTo(email));
  await expect.poll(due).toEqual([2_000]);
  provider.mood = 'accepts';
  clock -= 3_600_000;
  makeMailer().start();
  expect(await provider.mailsTo(email)).toHaveLength(1);
});

it('leaves a mail to the process that sends it for a minute, and then lets another send it', async () => {
  provider.mood = 'has others wait';
  const before = provider.attempts;
  const email = freshEmail();
  await makeMailer().enqueue(messageTo(email));
  await expect.poll(() => provider.attempts).toBe(before + 1);
  clock += 59_999;
  await makeMailer().enqueue(messageTo(freshEmail()));
  await expect.poll(() => provider.attempts).toBe(before + 2);
  expect(await due()).toEqual([1, 60_000]);
  clock += 1;
  makeMailer().start();
  await expect.poll(() => provider.attempts).toBe(before + 3);
  provider.goOn();
  expect(await provider.mailsTo(email, 2)).toHaveLength(2);
});

it('sends a mail of the server before one of an app', async () => {
  provider.mood = 'has others wait';
  const message = {
    workspace: 'post',
    kind: 'otp',
    secret: '012345',
    lifeSeconds: 60,
    discard: false,
  } as const;
  await makeMailer().enqueue(messageTo(freshEmail()));
  await makeMailer().enqueue({ ...message, to: freshEmail() });
  const rows = await storage.databases.control.run((sql) =>
    sql<{ of_app: boolean }[]>`select of_app from control.mail_queue order by id`
  );
  expect(rows.map(({ of_app }) => of_app)).toEqual([true, false]);
});

it('finishes a mail that is being sent when the process stops', async () => {
  provider.mood = 'has others wait';
  const before = provider.attempts;
  const stopping = makeMailer();
  await stopping.enqueue(messageTo(freshEmail()));
  await expect.poll(() => provider.attempts).toBe(before + 1);
  const closed = stopping.close();
  provider.goOn();
  await closed;
  expect(await due()).toEqual([]);
});

it('sends no mail that has expired', async () => {
  provider.mood = 'fails for now';
  const [late, email] = [freshEmail(), freshEmail()];
  await makeMailer().enqueue(messageTo(late, 60));
  await expect.poll(due).toEqual([2_000]);
  provider.mood = 'accepts';
  clock += 60_000;
  await makeMailer().enqueue(messageTo(email));
  expect(await provider.mailsTo(email)).toHaveLength(1);
  await expect.poll(due).toEqual([]);
  expect(provider.mails.join()).not.toContain(late);
});

it('gives up a mail that would have expired by the next attempt', async () => {
  provider.mood = 'fails for now';
  await makeMailer().enqueue(messageTo(freshEmail(), 2));
  await expect.poll(() => events).toMatchObject([{ type: 'mail_failed', attempts: 1, gives_up: true }]);
  await expect.poll(due).toEqual([]);
});

it('sends mail of other workspaces while recipients of one keep the provider waiting', async () => {
  provider.mood = 'has others wait';
  const before = provider.attempts;
  const mailer = makeMailer();
  await Promise.all(Array.from({ length: 30 }, () => mailer.enqueue(messageTo(freshEmail()))));
  await expect.poll(() => provider.attempts).toBeGreaterThanOrEqual(before + 4);
  provider.mood = 'accepts';
  const email = freshEmail();
  await mailer.enqueue({ ...messageTo(email), workspace: 'other' });
  expect(await provider.mailsTo(email)).toHaveLength(1);
  expect(provider.attempts).toBe(before + 5);
}, 30_000);

it('refuses mail of apps while too much of their workspace waits, and takes it again afterwards', async () => {
  const { control } = storage.databases;
  await control.run((sql) =>
    sql`
    insert into control.mail_queue (id, workspace, sealed, next_attempt_at, expires_at, created_at, of_app)
    select gen_random_uuid(), 'post', ''::bytea, ${new Date(clock + 600_000)}, ${new Date(clock + 900_000)},
      ${new Date(clock)}, true
    from generate_series(1, ${waitingLimits.mails})`
  );
  provider.mood = 'accepts';
  const mailer = makeMailer();
  const [email, own] = [freshEmail(), freshEmail()];
  await expect(mailer.enqueue(messageTo(email))).rejects.toMatchObject({
    code: 'too_many_requests',
    message: 'of the hooks of a workspace no more than 5000 mails or 64 MiB may wait to be sent',
  });
  await mailer.enqueue({
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
  await mailer.enqueue(messageTo(email));
  expect(await provider.mailsTo(email)).toHaveLength(1);
});

it('discards mail of the server while too much of its workspace waits, without a word to the caller', async () => {
  const { control } = storage.databases;
  await control.run((sql) =>
    sql`
    insert into control.mail_queue (id, workspace, sealed, next_attempt_at, expires_at, created_at)
    select gen_random_uuid(), 'post', ''::bytea, ${new Date(clock + 600_000)}, ${new Date(clock + 900_000)},
      ${new Date(clock)}
    from generate_series(1, ${waitingLimits.mails})`
  );
  const code = { workspace: 'post', kind: 'otp', secret: '012345', lifeSeconds: 60, discard: false } as const;
  await makeMailer().enqueue({ ...code, to: freshEmail() });
  expect(await due()).toHaveLength(waitingLimits.mails);
  expect(events).toMatchObject([{ type: 'share_spent', share: 'waiting mail', workspace: 'post' }]);
});
