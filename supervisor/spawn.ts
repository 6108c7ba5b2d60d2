// Starts child processes. The supervisor runs every program through `spawn`.
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { systemErrorCode } from './errors.ts';
import { firstDescriptor, type OrphanSignal, withLifeline } from './lifeline.ts';
import { stopReading } from './node-internals.ts';

/** A program to run, and its environment. */
export interface Command {
  file: string;
  args: readonly string[];
  /** The complete environment. Nothing is inherited from the supervisor. */
  env: Readonly<Record<string, string>>;
  /** The user to run as. Requires root. */
  user?: { uid: number; gid: number };
  /** Text for standard input, which is empty by default. */
  input?: string;
  /** Reads this process's own standard input instead. */
  stdin?: 'inherit';
  /** The folder to run in; by default the root. */
  cwd?: string;
  /** Opens a message channel to the process. */
  ipc?: { onMessage: (message: unknown) => void };
  /** The descriptor that becomes its standard output, in place of this process's own. */
  stdout?: number | undefined;
  /** Receives every line of the output. By default, standard output and error are inherited. */
  onLine?: (line: string) => void;
  /** Receives the output as streams instead, which it must read. */
  onOutput?: (output: Record<'stdout' | 'stderr', Readable>) => void;
  /** Opens a socket as descriptor 3, whose other end is `RunningProcess.socket`. */
  socket?: boolean;
  /** The signal for its process group when the supervisor dies; `none` for a command that ends by itself then. */
  orphanSignal: OrphanSignal | 'none';
}

/** The exit of a process. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A started process. */
export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process has exited and the rest of its group was killed. */
  readonly exited: Promise<Exit>;
  /** Resolves when all of its output was read, too. That is later when a process of another group holds the output open. */
  readonly closed: Promise<unknown>;
  /** The other end of its socket. Nothing has been read from it when `spawn` returns. */
  readonly socket: Socket | undefined;
  /**
   * Sends a message over the channel, with a socket whose ownership passes to the process. When the process is ending, the
   * message is dropped and the socket closed.
   */
  send(message: object, socket?: Socket): void;
  /** Signals the process itself. */
  signal(name: NodeJS.Signals): void;
  /** Kills the process and its whole group. */
  killGroup(): void;
}

/** Starts a process in its own process group, which does not outlive the supervisor. Throws when it cannot be started. */
export function spawn(command: Command): RunningProcess {
  const piped = command.onLine !== undefined || command.onOutput !== undefined;
  const { subprocess, pid } = start(command, piped ? 'pipe' : 'inherit');
  const { nodeChildProcess } = subprocess;
  const { stdout, stderr } = nodeChildProcess;
  if (stdout !== null && stderr !== null) passOutput(command, { stdout, stderr });
  nodeChildProcess.stdin?.end(command.input);
  if (command.ipc !== undefined) nodeChildProcess.on('message', command.ipc.onMessage);
  const killGroup = () => signalGroup(pid, 'SIGKILL');
  const exited = new Promise<Exit>((resolve) => {
    nodeChildProcess.on('exit', (code, signal) => {
      // Ends the watcher of the lifeline, which would otherwise run as long as the supervisor.
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
      // After sending, this socket has no descriptor; destroying it emits the end to its listeners.
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
    // Any descriptor will do, though execa's types know only those below 10.
    stdio: [
      command.input === undefined ? command.stdin ?? 'ignore' : 'pipe',
      (command.stdout ?? output) as 'inherit',
      output,
      ...own,
      ...lifeline,
    ],
    ipc: command.ipc !== undefined,
    env: { ...command.env },
    extendEnv: false,
    cwd: command.cwd ?? '/',
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

/** Sends a signal to a group. One that is gone is no error; macOS says EPERM of one that is only a zombie. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(systemErrorCode(error))) throw error;
  }
}
