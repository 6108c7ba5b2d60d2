// The program of a hook runner: runs one app's hook files in a process without permissions, connected to the API by descriptor 3.
import { openChannel } from './channel.ts';
import { Invocations } from './invocations.ts';
import { LogWriter } from './log-lines.ts';
import type { LoadFrame, ToRunner } from './protocol.ts';
import { Session } from './session.ts';

/** The version of the protocol. */
const protocol = 1;
/** The limit of a log frame before the API has sent its limits. */
const earlyLogBytes = 8 * 1024;

/** The only member of `Deno` that the runner uses. The types of Node, which check the server, do not declare it. */
declare const Deno: { exit(code: number): never };

// Read before `Deno` is deleted from the globals. `process.exit` would need it then.
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

/** Handles a frame of the API. The first one is the code; all others are for that code. */
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
