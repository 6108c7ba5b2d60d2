// Mail by a real SMTP server: it arrives, it is tried again, it survives a restart, and nobody waits for it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool } from '../../../storage/connections/pool.ts';
import { as, expectOk } from '../../harness/api.ts';
import { endpointOf } from '../../harness/database.ts';
import { secretIn } from '../../harness/mailbox.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { setUp } from '../../harness/set-up.ts';
import { type Provider, startProvider } from '../../harness/smtp.ts';
import { freshEmail } from '../../harness/users.ts';

const auth = '/api/workspaces/post/auth';
let home: string;
let dataDir: string;
let provider: Provider;
let server: TestServer;

const start = () =>
  startServer({
    dataDir,
    config: { mail: { transport: 'smtp', from: 'Post <post@bücher.example>', smtp: { url: provider.url } } },
  });
const anyone = () => as(undefined, server.url);
const request = (email: string) => anyone().post(`${auth}/otp/request`, { email });

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-mail-'));
  dataDir = join(home, 'data');
  provider = await startProvider();
  server = await start();
  const master = await setUp(server.url);
  expectOk(await master.post('/api/workspaces', { id: 'post', name: 'Post' }));
  expectOk(await master.post('/api/workspaces', { id: 'other', name: 'Other' }));
}, 60_000);

afterAll(async () => {
  await server.stop();
  await provider.close();
  await rm(home, { recursive: true, force: true });
}, 30_000);

describe('mail by SMTP', () => {
  it('arrives, from the configured sender, with a code that works', async () => {
    const email = freshEmail();
    expectOk(await request(email));
    const [mail = ''] = await provider.mailsTo(email);
    expect(mail).toMatch(/^From: Post <post@xn--bcher-kva\.example>$/m);
    expect(mail).toMatch(/^Message-ID: <[0-9a-f-]{36}@xn--bcher-kva\.example>$/m);
    const code = secretIn(mail) ?? '';
    expectOk(await anyone().post(`${auth}/otp/login`, { email, code }));
  });

  it('uses the texts of the operator from the next mail on, values escaped in HTML alone', async () => {
    await mkdir(join(dataDir, 'mail'), { recursive: true });
    await writeFile(
      join(dataDir, 'mail', 'otp.subject.txt'),
      'Code for {{workspace}}\nBcc: everybody@example.com\n',
    );
    // As some editors save a text, with a mark before it.
    await writeFile(join(dataDir, 'mail', 'otp.txt'), '\uFEFFFor {{email}} {{unknown}}:\n{{secret}}\n');
    await writeFile(join(dataDir, 'mail', 'otp.html'), '<p>{{email}}</p>\n{{secret}}\n');
    const email = `a&b.${freshEmail()}`;
    expectOk(await request(email));
    const [mail = ''] = await provider.mailsTo(email);
    expect(mail).toContain('\nSubject: Code for post Bcc: everybody@example.com\n');
    expect(mail).toContain(`\n\nFor ${email} {{unknown}}:\n`);
    expect(mail).toContain(`<p>${email.replace('&', '&#38;')}</p>`);
    await rm(join(dataDir, 'mail'), { recursive: true });
  });

  it('waits while a text of the operator cannot be read, and the log names the file', async () => {
    const path = join(dataDir, 'mail', 'otp.txt');
    await mkdir(path, { recursive: true });
    const email = freshEmail();
    expectOk(await request(email));
    const line = await server.line('cannot read');
    expect(JSON.parse(line)).toMatchObject({
      type: 'mail_failed',
      error: 'EISDIR',
      reason: `cannot read ${path}: EISDIR`,
      gives_up: false,
    });
    expect(line).not.toContain(email);
    await rm(join(dataDir, 'mail'), { recursive: true });
    expect(await provider.mailsTo(email)).toHaveLength(1);
  });

  it('is tried again when the provider fails for now', async () => {
    provider.mood = 'fails for now';
    const email = freshEmail();
    expectOk(await request(email));
    const line = await server.line(' 451"');
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      attempts: 1,
      gives_up: false,
      host: '127.0.0.1',
      port: Number(new URL(provider.url).port),
      reason: 'the mail server refuses the recipient for now (451)',
    });
    expect(line).not.toContain(email);
    provider.mood = 'accepts';
    expect(await provider.mailsTo(email)).toHaveLength(1);
  });

  it.each([['refuses for good', 'EENVELOPE 550'], ['refuses the text', 'EMESSAGE 554']] as const)(
    'is given up when the provider %s',
    async (mood, error) => {
      provider.mood = mood;
      expectOk(await request(freshEmail()));
      const line = await server.line(`"error":"${error}"`);
      expect(JSON.parse(line)).toMatchObject({ type: 'mail_failed', attempts: 1, gives_up: true });
      provider.mood = 'accepts';
    },
  );

  it.each(
    [
      ['serves nobody', 'EPROTOCOL 554'],
      ['takes no password', 'EAUTH 535'],
      ['takes no sender', 'EENVELOPE 553'],
    ] as const,
  )('waits until the operator has set things right when the provider %s', async (mood, error) => {
    provider.mood = mood;
    const email = freshEmail();
    expectOk(await request(email));
    expect(JSON.parse(await server.line(`"attempts":1,"error":"${error}"`))).toMatchObject({
      gives_up: false,
    });
    provider.mood = 'accepts';
    expect(await provider.mailsTo(email)).toHaveLength(1);
  });

  it('waits for a restart when the provider fails until then', async () => {
    provider.mood = 'fails for now';
    const email = freshEmail();
    const before = provider.attempts;
    expectOk(await request(email));
    await expect.poll(() => provider.attempts, { timeout: 10_000 }).toBeGreaterThan(before);
    await server.stop();
    provider.mood = 'accepts';
    server = await start();
    expect(await provider.mailsTo(email)).toHaveLength(1);
  }, 60_000);

  it('is sent once also when the database fails right behind it', async () => {
    const endpoint = endpointOf(dataDir, 'bulkhead');
    const control = new Pool(endpoint, { cap: 2, permits: unlimitedPermits, now: Date.now });
    provider.mood = 'has others wait';
    const email = freshEmail();
    const before = provider.attempts;
    expectOk(await request(email));
    await expect.poll(() => provider.attempts).toBeGreaterThan(before);
    await control.transaction(async (sql) => {
      await sql`select from control.mail_queue for update`;
      provider.goOn();
      await provider.mailsTo(email);
      const ended = () =>
        control.run((other) =>
          other`select pg_terminate_backend(pid) from pg_stat_activity
            where wait_event_type = 'Lock' and query like '%mail_queue%'`
        );
      await expect.poll(async () => (await ended()).length).toBe(1);
    });
    const left = () => control.run((sql) => sql`select from control.mail_queue`);
    await expect.poll(async () => (await left()).length).toBe(0);
    expect(await provider.mailsTo(email)).toHaveLength(1);
    await control.end();
  });

  it('waits for little of that of another workspace, however much there is', async () => {
    provider.mood = 'has others wait';
    const before = provider.mails.length;
    for (let mails = 0; mails < 40; mails++) expectOk(await request(freshEmail()));
    const email = freshEmail();
    expectOk(await anyone().post('/api/workspaces/other/auth/otp/request', { email }));
    provider.goOn();
    await provider.mailsTo(email);
    expect(provider.mails.length - before).toBeLessThan(20);
  });

  it('holds nobody up when the provider says nothing', async () => {
    provider.mood = 'says nothing';
    for (let mails = 0; mails < 8; mails++) {
      const began = performance.now();
      expectOk(await request(freshEmail()));
      expect(performance.now() - began).toBeLessThan(1_000);
    }
    expectOk(await anyone().get('/readyz'));
    provider.mood = 'accepts';
  });
});
