// A real hook runner with the API's end of its channel in the hands of a test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, onTestFinished } from 'vitest';
import { channelLimits } from '../../api/hooks/rpc/channel.ts';
import { FrameReader } from '../../api/hooks/rpc/frames.ts';
import { readMessage } from '../../api/hooks/rpc/inbound.ts';
import type { ChannelLimits } from '../../hook-runner/channel-limits.ts';
import type { CallTable, HookRecord } from '../../hook-runner/calls.ts';
import type {
  CallFrame,
  EventInvocation,
  FromRunner,
  LoadedFrame,
  LogFrame,
  RouteInvocation,
  ToRunner,
} from '../../hook-runner/protocol.ts';
import { runnerCommand } from '../../supervisor/hooks/runner-command.ts';
import { findRunnerFiles } from '../../supervisor/hooks/runner-files.ts';
import { encodeFrame } from '../harness/frame.ts';

/** A record for events. */
export const order: HookRecord = {
  id: '0192f0c1-2d3e-7000-8000-000000000001',
  collection: 'orders',
  fields: { title: 'Tea', total: 3, meta: { tags: ['a'] } },
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
};

type Frame<Type extends FromRunner['type']> = Extract<FromRunner, { type: Type }>;

type RecordInvocation = Extract<EventInvocation, { collection: string }>;

/** One runner process. Every frame it sends passes the API's own reader and checks. */
export class TestRunner {
  readonly pid: number;
  /** Frames that no one has waited for, in order. */
  readonly frames: FromRunner[] = [];
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  #wake: () => void = () => undefined;
  #failure: unknown;
  #nextId = 1;

  constructor(child: ChildProcess, socket: Socket) {
    this.#child = child;
    this.#socket = socket;
    this.pid = child.pid ?? 0;
    const reader = new FrameReader(channelLimits.result_bytes, (message) => {
      this.frames.push(readMessage(message));
      this.#wake();
    });
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.push(bytes);
      } catch (error) {
        this.#failure = error;
        this.#wake();
      }
    });
    socket.on('error', () => this.#wake());
    socket.on('close', () => {
      this.#failure ??= new Error('the runner is gone');
      this.#wake();
    });
  }

  newId(): number {
    return this.#nextId++;
  }

  send(frame: ToRunner): void {
    this.#socket.write(encodeFrame(frame));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** The next frame of that type, and with that id where it is given; others stay. */
  async next<Type extends FromRunner['type']>(type: Type, id?: number): Promise<Frame<Type>> {
    for (;;) {
      const index = this.frames.findIndex((frame) =>
        frame.type === type && (id === undefined || ('id' in frame && frame.id === id))
      );
      const [found] = index === -1 ? [] : this.frames.splice(index, 1);
      if (found !== undefined && isOf(found, type)) return found;
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Loads files given as `{ 'a.ts': text }`. */
  async load(files: Record<string, string>, changed: Partial<ChannelLimits> = {}): Promise<LoadedFrame> {
    return await this.next('loaded', this.startLoad(files, changed));
  }

  /** Sends files to be loaded and returns the id. */
  startLoad(files: Record<string, string>, changed: Partial<ChannelLimits> = {}): number {
    const id = this.newId();
    this.send({
      type: 'load',
      id,
      workspace: 'acme',
      app: 'shop',
      generation: 1,
      files: Object.entries(files).map(([file, source]) => ({ file, source })),
      env: { REGION: 'north' },
      limits: { ...channelLimits, ...changed },
    });
    return id;
  }

  /** Starts an event and answers its id. */
  start(event: RecordInvocation['event'], changed: Partial<RecordInvocation> = {}): number {
    const id = this.newId();
    const given = { record: structuredClone(order), collection: 'orders', previous: null, auth: null };
    this.send({ type: 'event', id, event, ...given, request_id: 'r1', ...changed });
    return id;
  }

  /** Runs an event to its result. */
  async event(
    event: RecordInvocation['event'],
    changed: Partial<RecordInvocation> = {},
  ): Promise<Frame<'result'>> {
    return await this.next('result', this.start(event, changed));
  }

  /** Starts a route, given as `GET /path` of its registration, and answers the id. */
  request(route: string, changed: Partial<RouteInvocation & RouteInvocation['request']> = {}): number {
    const id = this.newId();
    const [method = '', path = ''] = route.split(' ');
    const { url = '/x', headers = [], body = null, params = {} } = changed;
    const request = { method: changed.method ?? method, url, headers, body };
    this.send({ type: 'route', id, method, path, params, request, auth: null, request_id: 'r1' });
    return id;
  }

  /** The next call, which must be of that method. */
  async call<Method extends keyof CallTable>(
    method: Method,
  ): Promise<Extract<CallFrame, { method: Method }>> {
    const call = await this.next('call');
    if (!isCallOf(call, method)) throw new Error(`a call of ${call.method}`);
    return call;
  }

  respond<Method extends keyof CallTable>(
    call: Extract<CallFrame, { method: Method }>,
    value: CallTable[Method]['value'],
  ) {
    this.send({ type: 'result', id: call.id, ok: true, value: JSON.parse(JSON.stringify(value)) });
  }

  async log(): Promise<LogFrame> {
    return await this.next('log');
  }

  /** Closes the API's end and waits for the process. Answers its exit code. */
  async close(): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    this.#socket.end();
    const [code] = await ended;
    return code;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

function isOf<Type extends FromRunner['type']>(frame: FromRunner, type: Type): frame is Frame<Type> {
  return frame.type === type;
}

function isCallOf<Method extends keyof CallTable>(
  call: CallFrame,
  method: Method,
): call is Extract<CallFrame, { method: Method }> {
  return call.method === method;
}

const { platform, arch } = process;
/** Each file of tests has its own copy of the code. */
const folder = mkdtempSync(join(tmpdir(), 'bulkhead-runner-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const files = findRunnerFiles({ folder, isForeign: false, platform, arch });

/** Starts a runner at level `deno`, with the very command of the supervisor, and waits until it is ready. */
export async function startRunner(): Promise<TestRunner> {
  const command = runnerCommand({
    level: 'deno',
    platform,
    users: undefined,
    jit: false,
    ...await files,
    libraries: [],
    filter: '',
    tools: { bwrap: '/usr/bin/bwrap', setpriv: '/usr/bin/setpriv', nice: '/usr/bin/nice' },
    oomScore: 500,
  }, { program: 'main.js', slot: 0, memory: 256 });
  const child = spawn(command.file, command.args, {
    env: command.env,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const socket = child.stdio[3];
  if (!(socket instanceof Socket)) throw new Error('no socket at descriptor 3');
  const runner = new TestRunner(child, socket);
  await runner.next('ready');
  return runner;
}

/** Starts one that ends with the test. */
export async function startForTest(): Promise<TestRunner> {
  const runner = await startRunner();
  onTestFinished(() => runner.kill());
  return runner;
}

/** Where recorded conversations are. */
export const framesFolder: string = fileURLToPath(new URL('frames/', import.meta.url));
