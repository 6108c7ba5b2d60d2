// The API's end of a runner's channel: invocations go out, results and calls come in, and the first thing that is not as the
// protocol has it ends the runner.
import type { Socket } from 'node:net';
import type { FromRunner, LoadedFrame, LogFrame, ToRunner } from '../../../hook-runner/protocol.ts';
import { InFlight } from '../../../storage/connections/in-flight.ts';
import { CallHandler } from './call-handler.ts';
import { Deadlines } from './deadlines.ts';
import { FrameBudget } from './frame-budget.ts';
import { FrameWriter } from './frame-writer.ts';
import { FrameReader, ProtocolError, toFrameText } from './frames.ts';
import { readMessage } from './inbound.ts';
import type { ChannelEnd, Invocation, InvocationFrame } from './invocation.ts';
import { PausedTime } from './paused-time.ts';
import { Ping } from './ping.ts';

/** Largest texts in bytes, and how much a runner may do: it is told, and ended when it does not keep within. */
export const channelLimits = {
  result_bytes: 1_048_576,
  call_bytes: 262_144,
  log_bytes: 8_192,
  window_bytes: 262_144,
  registrations: 1_000,
  load_ms: 4_000,
} as const;

interface ChannelOptions {
  socket: Socket;
  onReady: () => void;
  onLog: (log: LogFrame) => void;
  /** Called once. Unless it was `closed` or has `exited`, the runner is to be killed. */
  onEnd: (end: ChannelEnd, message: string) => void;
  /** Hears of failures of our own. */
  report: (error: unknown) => void;
}

const maxCancelled = 1_024;
const smallFrameBytes = 256;
const maxFrameBytes: Record<FromRunner['type'], number> = {
  ready: smallFrameBytes,
  pong: smallFrameBytes,
  end: smallFrameBytes,
  log: channelLimits.log_bytes,
  call: channelLimits.call_bytes,
  loading: channelLimits.call_bytes,
  loaded: channelLimits.result_bytes,
  result: channelLimits.result_bytes,
  response: channelLimits.result_bytes,
  chunk: channelLimits.result_bytes,
};

/** One runner, as the API talks to it. */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #calls: CallHandler;
  readonly #paused = new PausedTime();
  readonly #deadlines = new Deadlines((id) => this.#timeOut(id), this.#paused);
  readonly #open = new InFlight<Invocation>();
  readonly #ping = new Ping({
    send: (id) => this.send({ type: 'ping', id }),
    onStuck: () => this.end('timeout', 'the hook runner does not come back from its code'),
    paused: this.#paused,
  });
  readonly #budget = new FrameBudget((text) => this.#writer.sendText(text));
  /** Ids of invocations that nobody waits for any more, oldest first. */
  readonly #cancelled = new Set<number>();
  #lastId = 0;
  #isReady = false;
  #hasEnded = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    const { socket, report } = options;
    this.#reader = new FrameReader(channelLimits.result_bytes, (given, bytes) => this.#take(given, bytes));
    this.#writer = new FrameWriter(socket, {
      onStall: () => this.end('not_reading', 'the hook runner does not read what it is sent'),
      onDrain: () => this.#calls.proceed(),
      paused: this.#paused,
    });
    this.#calls = new CallHandler({
      findInvocation: (id) => this.#open.get(id),
      send: (result) => this.send(result),
      canSend: () => !this.#writer.isFull,
      onFullChange: (isFull) => void (isFull ? socket.pause() : socket.isPaused() && socket.resume()),
      report,
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // An error is followed by `close`, which says all there is to say.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.end('exited', 'the hook runner has ended'));
  }

  /** Undefined unless a ping is out: then, soon, whether the runner comes back from its code. */
  get responsiveness(): Promise<boolean> | undefined {
    return this.#ping.responsiveness;
  }

  /** Notes that the runner was stopped, or goes on. */
  setPaused(isPaused: boolean): void {
    this.#paused.set(isPaused, performance.now());
  }

  /** Invocations that are under way. */
  get inFlight(): number {
    return this.#open.size;
  }

  /** True while it takes calls. */
  get isOpen(): boolean {
    return !this.#hasEnded;
  }

  /**
   * Sends what `write` makes of a new id; whatever comes for that id is the invocation's. `isNested`: another one waits for
   * it. Throws `413 payload_too_large`.
   */
  begin(invocation: Invocation, write: (id: number) => ToRunner, isNested = false): number {
    const id = ++this.#lastId;
    if (this.#hasEnded) {
      invocation.fail('exited');
      return id;
    }
    const text = toFrameText(write(id));
    this.#open.set(id, invocation);
    this.#deadlines.set(id, invocation.deadline);
    if (isNested) this.#writer.sendText(text);
    else this.#budget.begin(id, text);
    // A runner that rests may begin; one that is busy gets what comes meanwhile in one piece.
    if (this.#open.size === 1) this.#writer.flush();
    return id;
  }

  /** The invocation has its full response. Its own `take` calls this before it releases the runner. */
  settle(id: number): void {
    this.#open.delete(id);
    this.#deadlines.delete(id);
    this.#budget.end(id);
  }

  /** Nobody waits for this one any more. */
  cancel(id: number): void {
    if (!this.#open.delete(id)) return;
    this.#deadlines.delete(id);
    if (!this.#budget.end(id)) return;
    this.#noteCancelled(id);
    this.send({ type: 'cancel', id });
  }

  /** The response of an invocation streams: it gets another deadline, and holds up nobody. */
  extend(id: number, deadline: number): void {
    if (this.#open.get(id) === undefined) return;
    this.#deadlines.set(id, deadline);
    this.#budget.end(id);
  }

  /** See `CallHandler`. */
  withoutSlot<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#calls.withoutSlot(work);
  }

  /** Sends a message; those of one turn leave together. */
  send(message: ToRunner): void {
    this.#writer.send(message);
  }

  /** Ends the channel; whatever is under way fails. */
  end(end: ChannelEnd, message: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deadlines.clear();
    this.#ping.end();
    this.#writer.close();
    this.#options.socket.destroy();
    const open = this.#open.entries();
    this.#open.clear();
    this.#options.onEnd(end, message);
    for (const [, invocation] of open) invocation.fail(end);
  }

  #read(chunk: Buffer): void {
    if (this.#hasEnded) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof ProtocolError)) this.#options.report(error);
      const what = error instanceof ProtocolError ? error.message : 'a message that cannot be taken';
      this.end('protocol_error', `the hook runner sent ${what}`);
    }
  }

  #take(given: Record<string, unknown>, bytes: number): void {
    if (this.#hasEnded) return;
    const message = readMessage(given);
    const { type } = message;
    if (bytes > maxFrameBytes[type]) throw new ProtocolError(`a ${type} of ${bytes} bytes`);
    if (this.#isReady === (type === 'ready')) throw new ProtocolError(`a ${type} that is out of turn`);
    if (type === 'ready') {
      this.#isReady = true;
      this.#options.onReady();
    } else if (type === 'log') this.#options.onLog(message);
    else if (type === 'pong') this.#ping.receivePong(message.id);
    else if (type === 'call') {
      if (message.parent > this.#lastId) throw new ProtocolError('a call of no invocation');
      this.#calls.handle(message, bytes);
    } else this.#takeInvocationFrame(message);
  }

  #takeInvocationFrame(message: InvocationFrame): void {
    const { id } = message;
    const invocation = this.#open.get(id);
    if (invocation === undefined) {
      if (this.#cancelled.has(id)) return;
      throw new ProtocolError(`a ${message.type} that nobody asked for`);
    }
    if (message.type === 'loaded') checkRegistrationCount(message);
    if (invocation.take(message)) this.settle(id);
  }

  /** The caller is told at once; whether the runner is still alive is found out after that. */
  #timeOut(id: number): void {
    const invocation = this.#open.get(id);
    if (invocation === undefined) return;
    this.cancel(id);
    invocation.fail('timeout');
    if (!this.#hasEnded) this.#ping.start(() => ++this.#lastId);
  }

  #noteCancelled(id: number): void {
    this.#cancelled.add(id);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > maxCancelled && oldest !== undefined) this.#cancelled.delete(oldest);
  }
}

/** A runner lets no more be registered: all of it is looked through for requests, in this process. */
function checkRegistrationCount({ files }: LoadedFrame): void {
  const count = files.reduce((sum, one) => sum + one.hooks.length + one.routes.length + one.jobs.length, 0);
  if (count > channelLimits.registrations) throw new ProtocolError(`${count} registrations`);
}
