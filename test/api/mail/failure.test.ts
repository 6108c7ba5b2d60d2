// Why a mail was not sent, as the log says it: errors of real attempts, against servers of several kinds.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { explainMailFailure, isRefusal, type MailFailure } from '../../../api/mail/failure.ts';
import { createTransport } from '../../../api/mail/transport.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The port of a server that says this to each client, and nothing else. */
async function serverThatSays(words: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(words);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function attempt(url: string, to = 'ada@example.com', timeout = 20_000): Promise<MailFailure> {
  const mail = { transport: 'smtp', from: 'Post <post@example.com>', smtp: { url } } as const;
  const transport = createTransport({ mail, data_dir: '/nowhere' }, { attemptTimeoutMs: timeout });
  const id = '019a0000-0000-7000-8000-000000000000';
  const sent = transport.send({
    id,
    workspace: 'acme',
    to,
    date: new Date(),
    subject: 'Hi',
    text: 'Hi',
    html: '<p>Hi</p>',
  });
  const error: unknown = await sent.then(() => undefined, (thrown: unknown) => thrown);
  transport.close();
  expect(isRefusal(error)).toBe(false);
  return explainMailFailure(error, mail);
}

it('names host, port and the error of the connection', async () => {
  expect(await attempt('smtp://post:secret@127.0.0.1:1')).toEqual({
    host: '127.0.0.1',
    port: 1,
    error: 'ESOCKET',
    reason: 'connect ECONNREFUSED 127.0.0.1:1',
  });
});

it.each([['smtp://nowhere.invalid', 587], ['smtps://nowhere.invalid', 465]])(
  'names the usual port of %s',
  async (url, port) => {
    const { reason, ...where } = await attempt(url);
    expect(where).toEqual({ host: 'nowhere.invalid', port, error: 'EDNS' });
    expect(reason).toMatch(/^getaddrinfo \w+ nowhere\.invalid$/);
  },
);

it('says that TLS is not what a server speaks, in one line', async () => {
  const port = await serverThatSays('220 post ESMTP\r\n');
  const { reason } = await attempt(`smtps://127.0.0.1:${port}`);
  expect(reason).toContain('wrong version number');
  expect(reason).not.toMatch(/\n/);
});

it('says that a server speaks no SMTP, and not its words', async () => {
  const port = await serverThatSays('HTTP/1.1 400 no ada@example.com here\r\n\r\n');
  expect(await attempt(`smtp://127.0.0.1:${port}`)).toMatchObject({
    error: 'EPROTOCOL',
    reason: 'what responds there speaks no SMTP',
  });
});

it('gives the codes of a response, and not its words', async () => {
  const port = await serverThatSays('421 4.3.2 no ada@example.com here\r\n');
  expect(await attempt(`smtp://127.0.0.1:${port}`)).toMatchObject({
    error: 'EPROTOCOL 421',
    reason: 'the mail server refuses to serve this client for now (421 4.3.2)',
  });
});

it('says nothing of an address that nodemailer refuses', () => {
  const error = Object.assign(new Error('Invalid recipient "ada@\\"x\\".example"'), { code: 'EENVELOPE' });
  const mail = { transport: 'smtp', from: 'post', smtp: { url: 'smtp://post.example' } } as const;
  expect(explainMailFailure(error, mail).reason).toBe('Invalid recipient "…"');
});

it('names the file that cannot be written, and no server, for the outbox', async () => {
  const mail = { transport: 'outbox', from: 'post', smtp: { url: '' } } as const;
  const transport = createTransport({ mail, data_dir: '/dev/null' }, { attemptTimeoutMs: 1_000 });
  const id = '019a0000-0000-7000-8000-000000000000';
  const sent = transport.send({
    id,
    workspace: 'acme',
    to: 'a@b.example',
    date: new Date(),
    subject: '',
    text: '',
    html: '',
  });
  const error: unknown = await sent.then(() => undefined, (thrown: unknown) => thrown);
  expect(explainMailFailure(error, mail)).toEqual({
    error: 'ENOTDIR',
    host: undefined,
    port: undefined,
    reason: expect.stringContaining('/dev/null/outbox'),
  });
});
