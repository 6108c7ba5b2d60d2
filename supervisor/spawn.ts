// Starting processes: the one way the supervisor runs anything.
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { systemErrorCode } from './errors.ts';
import { firstDescriptor, type OrphanSignal, withLifeline } from './lifeline.ts';
import { stopReading } from './node-internals.ts';

/** What to run, and how. */
export interface Command {
  file: string;
  args: readonly string[];
  /** The whole environment: nothing of the supervisor's own is handed down. */
  env: Readonly<Record<string, string>>;
  /** Runs as this user; only root can ask for it. */
  user?: { uid: number; gid: number };
  /** Text for standard input; without it, standard input is empty. */
  input?: string;
  /** Opens a message channel to the process. */
  ipc?: { onMessage: (message: unknown) => void };
  /** Gets every line of the output; without it standard output and error are the supervisor's own. */
  onLine?: (line: string) => void;
  /** Gets the output as streams instead, which it must read. */
  onOutput?: (output: Record<'stdout' | 'stderr', Readable>) => void;
  /** Gives it a socket as descriptor 3, whose other end is `Running.socket`. */
  socket?: boolean;
  /** What its process group is sent when the supervisor is gone; `none` for a command that sees to its own end. */
  orphanSignal: OrphanSignal | 'none';
}

/** How a process ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process that was started. */
export interface RunningProcess {
  readonly pid: number;
  /** Resolves when it has ended; whatever is left of its group has been killed then. */
  readonly exited: Promise<Exit>;
  /** Resolves when, besides, all of its output was read: later, when a process of another group holds it open. */
  readonly closed: Promise<unknown>;
  /** The other end of its socket. Nothing was read from it when `spawn` returns. */
  readonly socket: Socket | undefined;
  /**
   * Sends a message over the channel, with a socket that is the process's alone from then on. What cannot be delivered
   * is dropped and the socket closed, as the process is ending then.
   */
  send(message: object, socket?: Socket): void;
  /** Signals the process itself. */
  signal(name: NodeJS.Signals): void;
  /** Kills the process and its whole group at once. */
  killGroup(): void;
}

/** Starts a process in a group of its own that does not outlive the supervisor. Throws when it cannot be started. */
export function spawn(command: Command): RunningProcess {
  const piped = command.onLine !== undefined || command.onOutput !== undefined;
  const { subprocess, pid } = start(command, piped ? 'pipe' : 'inherit');
  const { nodeChildProcess } = subprocess;
  const { stdout, stderr } = nodeChildProcess;
  if (stdout !== null && stderr !== null) passOutput(command, { stdout, stderr });
  nodeChildProcess.stdin?.end(command.input);
  if (command.ipc !== undefined) nodeChildProcess.on('message', command.ipc.onMessage);
  const killGroup = () => signalGroup(pid);
  const exited = new Promise<Exit>((resolve) => {
    nodeChildProcess.on('exit', (code, signal) => {
      // The watcher of the lifeline outlives its command: ended here, or it would stay as long as the supervisor.
      killGroup();
      resolve({ code, signal });
    });
  });
  const end = nodeChildProcess.stdio[firstDescriptor];
  return {
    pid,
    exited,
    closed: subprocess,
    socket: command.socket === true && end instanceof Socket ? end : undefined,
    send: (message, socket) => {
      if (socket !== undefined) stopReading(socket);
      // Once sent, the object here is a husk without its descriptor; destroying it tells those who wait for its end.
      if (nodeChildProcess.connected) nodeChildProcess.send(message, socket, {}, () => socket?.destroy());
      else socket?.destroy();
    },
    signal: (name) => void nodeChildProcess.kill(name),
    killGroup,
  };
}

function start(command: Command, output: 'pipe' | 'inherit') {
  const { orphanSignal } = command;
  const own = command.socket === true ? ['pipe' as const] : [];
  const lifeline = orphanSignal === 'none' ? [] : ['pipe' as const];
  const { file, args } = orphanSignal === 'none'
    ? command
    : withLifeline(command, { signal: orphanSignal, descriptor: firstDescriptor + own.length });
  const subprocess = execa(file, args, {
    stdio: [command.input === undefined ? 'ignore' : 'pipe', output, output, ...own, ...lifeline],
    ipc: command.ipc !== undefined,
    env: { ...command.env },
    extendEnv: false,
    cwd: '/',
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
    ...command.user,
  });
  const { pid } = subprocess.nodeChildProcess;
  if (pid === undefined) throw new Error(`cannot start ${command.file}: no process could be made`);
  return { subprocess, pid };
}

function passOutput({ onLine, onOutput }: Command, output: Record<'stdout' | 'stderr', Readable>): void {
  onOutput?.(output);
  if (onLine === undefined) return;
  for (const input of [output.stdout, output.stderr]) createInterface({ input }).on('line', onLine);
}

/** Sends SIGKILL to a group. One that is gone is what was wanted; macOS says EPERM of one that is only a zombie. */
function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(systemErrorCode(error))) throw error;
  }
}
