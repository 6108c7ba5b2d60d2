// One attempt to send a mail, against a real SMTP server.
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTransport, type OutgoingMail } from '../../../api/mail/transport.ts';
import { type Provider, startProvider } from '../../harness/smtp.ts';
import { freshEmail } from '../../harness/users.ts';

let provider: Provider;

beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider.close());

function transport(attemptTimeoutMs = 1_000, url = provider.url) {
  const mail = { transport: 'smtp', from: 'Post <post@example.com>', smtp: { url } } as const;
  return createTransport({ mail, data_dir: '/nowhere' }, { attemptTimeoutMs });
}

function messageTo(to: string): OutgoingMail {
  const id = '019a0000-0000-7000-8000-000000000000';
  const content = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' };
  return { id, workspace: 'acme', to, date: new Date(), ...content };
}

describe('a mail in the outbox', () => {
  it('is whole, and for the server’s own user', async () => {
    const data_dir = await mkdtemp(join(tmpdir(), 'bulkhead-outbox-'));
    const mail = { transport: 'outbox', from: 'nobody', smtp: { url: '' } } as const;
    const outbox = createTransport({ mail, data_dir }, { attemptTimeoutMs: 1_000 });
    const message = { ...messageTo(freshEmail()), date: new Date('2026-01-02T03:04:05Z') };
    await outbox.send(message);
    outbox.close();
    const folder = join(data_dir, 'outbox');
    expect((await readdir(folder)).sort()).toEqual(['.workspaces', `${message.id}.eml`]);
    const path = join(folder, `${message.id}.eml`);
    const modes = await Promise.all([folder, path].map(async (at) => (await stat(at)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o600]);
    const text = await readFile(path, 'utf8');
    expect(text).toMatch(/^Date: Fri, 02 Jan 2026 03:04:05 \+0000$/m);
    expect(text).toContain(`\nMessage-ID: <${message.id}@localhost>\n`);
    await rm(data_dir, { recursive: true });
  });
});

describe('an attempt to send a mail', () => {
  it('ends, with its connection, when the server always says a little and never enough', async () => {
    provider.mood = 'trickles';
    const attemptTimeoutMs = 1_000;
    const smtp = transport(attemptTimeoutMs);
    const began = performance.now();
    await expect(smtp.send(messageTo(freshEmail()))).rejects.toThrow();
    const took = performance.now() - began;
    expect(provider.attempts).toBe(1);
    expect(took).toBeGreaterThan(attemptTimeoutMs * 0.9);
    expect(took).toBeLessThan(attemptTimeoutMs + 4_000);
    // Else the mail could still be taken, after another attempt was.
    await expect.poll(() => provider.connections()).toBe(0);
    smtp.close();
  });

  it('goes on while the server thinks over whether to take the mail', async () => {
    provider.mood = 'thinks it over';
    const smtp = transport(45_000);
    const to = freshEmail();
    await smtp.send(messageTo(to));
    expect(await provider.mailsTo(to)).toHaveLength(1);
    smtp.close();
  });

  it('does not end what went well', async () => {
    provider.mood = 'accepts';
    const smtp = transport();
    const to = freshEmail();
    await smtp.send(messageTo(to));
    expect(await provider.mailsTo(to)).toHaveLength(1);
    smtp.close();
  });

  it('goes to one address, and not to those that a list in its place would name', async () => {
    provider.mood = 'accepts';
    const smtp = transport();
    const two = `${freshEmail()},${freshEmail()}`;
    await expect(smtp.send(messageTo(two))).rejects.toThrow('Bad recipient address syntax');
    smtp.close();
  });

  it('tells a server without TLS neither password nor mail where the URL insists on it', async () => {
    provider.mood = 'takes no password';
    const smtp = transport(45_000, `${provider.url}?requireTLS=true`);
    await expect(smtp.send(messageTo(freshEmail()))).rejects.toMatchObject({ code: 'ETLS' });
    smtp.close();
  });
});
