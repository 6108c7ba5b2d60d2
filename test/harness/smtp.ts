// A real SMTP server that a test can make fail.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { vi } from 'vitest';

/** Longer than any other response may take. */
const thoughtMilliseconds = 10_500;

/** How it treats what it is sent: RFC 5321 section 4.2.1. */
export type Mood =
  | 'accepts'
  | 'fails for now'
  | 'refuses for good'
  | 'says nothing'
  | 'has others wait'
  | 'thinks it over'
  | 'trickles'
  | 'serves nobody'
  | 'takes no password'
  | 'takes no sender'
  | 'refuses the text';

/** The provider. */
export interface Provider {
  url: string;
  mood: Mood;
  /** How often somebody tried to send something. */
  attempts: number;
  /** Answers those that it has had wait, and accepts. */
  goOn(): void;
  /** Connections that are open. */
  connections(): number;
  /** What was accepted, raw. */
  readonly mails: readonly string[];
  /** Waits until it has accepted so many mails to an address, and answers them. */
  mailsTo(address: string, count?: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts one on a free port of the loopback. */
export async function startProvider(): Promise<Provider> {
  const mails: string[] = [];
  const objection = (mood: Mood, code: number) => provider.mood === mood ? reply(code, mood) : null;
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onConnect: (_session, done) => done(objection('serves nobody', 554)),
    onAuth: ({ username }, _session, done) => done(objection('takes no password', 535), { user: username }),
    onMailFrom: (_address, _session, done) => done(objection('takes no sender', 553)),
    onRcptTo: ({ address }, { remotePort }, done) => {
      provider.attempts++;
      if (provider.mood === 'says nothing') return;
      if (provider.mood === 'has others wait') return void waiting.push(done);
      if (provider.mood === 'trickles') return trickle(connections.get(remotePort));
      done(refusal(provider.mood, address));
    },
    onData: (stream, _session, done) => {
      const refused = objection('refuses the text', 554);
      readMail(stream, provider.mood).then((mail) => refused ?? mails.push(mail)).then(
        () => done(refused),
        done,
      );
    },
  });
  const connections = connectionsOf(server);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const provider: Provider = {
    url: `smtp://post:secret@127.0.0.1:${port}`,
    mood: 'accepts',
    attempts: 0,
    goOn() {
      provider.mood = 'accepts';
      for (const done of waiting.splice(0)) done();
    },
    connections: () => connections.size,
    mails,
    mailsTo: (address, count = 1) => mailsAmong(mails, address, count),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return provider;
}

/** Those to an address, once there are so many. */
function mailsAmong(mails: readonly string[], address: string, count: number): Promise<string[]> {
  return vi.waitFor(() => {
    const found = mails.filter((mail) => mail.includes(`\nTo: ${address}\n`));
    if (found.length < count) throw new Error(`no mail to ${address}`);
    return found;
  }, { timeout: 20_000, interval: 20 });
}

/** A mail, once it is all there and thought over. */
async function readMail(stream: Readable, mood: Mood): Promise<string> {
  const thought = mood === 'thinks it over' ? pause(thoughtMilliseconds) : undefined;
  const [mail] = await Promise.all([text(stream), thought]);
  return mail.replaceAll('\r\n', '\n');
}

/** Those that are open, by the other side's port. */
function connectionsOf({ server }: SMTPServer): ReadonlyMap<number, Socket> {
  const open = new Map<number, Socket>();
  server.on('connection', (socket) => {
    const { remotePort = 0 } = socket;
    open.set(remotePort, socket);
    socket.once('close', () => open.delete(remotePort));
  });
  return open;
}

/** One line of a response after another, and never the last (RFC 5321 section 4.2.1). */
function trickle(socket: Socket | undefined): void {
  const timer = setInterval(() => socket?.write('250-one moment\r\n'), 50);
  socket?.once('close', () => clearInterval(timer));
}

function refusal(mood: Mood, address: string): Error | null {
  if (['accepts', 'thinks it over', 'refuses the text'].includes(mood)) return null;
  return reply(mood === 'refuses for good' ? 550 : 451, `not for ${address}`);
}

function reply(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
