// The hook runner: one app's hook files in a process without any permission, talking to the API over descriptor 3.
import { openChannel } from './channel.ts';
import { Invocations } from './invocations.ts';
import { LogWriter } from './log-lines.ts';
import type { LoadFrame, ToRunner } from './protocol.ts';
import { Session } from './session.ts';

/** The only version of the protocol there is. */
const protocol = 1;
/** Longest log line before the API has said how long they may be. */
const earlyLogBytes = 8 * 1024;

/** All of Deno's own that the runner needs. The types of Node, which the server is checked with, do not know it. */
declare const Deno: { exit(code: number): never };

// Taken before `Deno` is gone. `process.exit` would look for it then.
const { exit } = Deno;
const invocations = new Invocations();
const sessions: Session[] = [];
const channel = openChannel(receive, () => exit(0));
const lines = new LogWriter(channel, invocations, earlyLogBytes);

process.on(
  'unhandledRejection',
  (reason) => lines.uncaught(reason, 'a promise was rejected and nobody caught it'),
);
process.on('uncaughtException', (error) => lines.uncaught(error, 'an error was thrown and nobody caught it'));
channel.send({ type: 'ready', protocol });

/** The first frame is the code; everything after it is for that code. */
function receive(frame: ToRunner): void {
  const session = sessions[0];
  if (session !== undefined) session.receive(frame);
  else if (frame.type === 'load') begin(frame);
  else if (frame.type === 'ping') channel.send({ type: 'pong', id: frame.id });
  else exit(2);
}

function begin(load: LoadFrame): void {
  const session = new Session(load, { channel, invocations });
  sessions[0] = session;
  session.begin();
}
