// A channel as the API holds it, and the runner's end of it, which the test speaks for.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { Channel } from '../../api/hooks/rpc/channel.ts';
import { FrameReader } from '../../api/hooks/rpc/frames.ts';
import { UnaryInvocation } from '../../api/hooks/rpc/unary-invocation.ts';
import type { ToRunner } from '../../hook-runner/protocol.ts';
import { encodeFrame } from './frame.ts';

/** Both ends. */
export interface ChannelPair {
  channel: Channel;
  /** The API's end. */
  socket: Socket;
  /** The runner's end. */
  runner: Socket;
  /** What the API sent. */
  received: Record<string, unknown>[];
  /** Why the channel ended. */
  ended: Promise<string>;
  calls: string[];
  event(milliseconds?: number): Promise<unknown>;
}

interface PairOptions {
  /** What the API answers the calls of hook code; null unless it is given. */
  response?: (method: string) => Promise<unknown>;
  /** Whether the runner says that it is ready. */
  greets?: boolean;
}

/** Makes pairs for the tests of one file. */
export function channelPairs(): (options?: PairOptions) => Promise<ChannelPair> {
  const server = createServer();
  const path = join(mkdtempSync(join(tmpdir(), 'bulkhead-channel-')), 's');
  beforeAll(() => new Promise<void>((resolve) => server.listen(path, resolve)));
  afterAll(() => rmSync(dirname(path), { recursive: true }));

  return async ({ response = () => Promise.resolve(null), greets = true } = {}) => {
    const arrived = once(server, 'connection');
    const runner = connect(path);
    const [socket]: Socket[] = await arrived;
    if (socket === undefined) throw new Error('nobody connected');
    const ended = Promise.withResolvers<string>();
    const [received, calls]: [Record<string, unknown>[], string[]] = [[], []];
    const reader = new FrameReader(16_777_216, (message) => received.push(message));
    runner.on('data', (chunk: Buffer) => reader.push(chunk));
    runner.on('error', () => {});
    const channel = new Channel({
      socket,
      onReady: () => {},
      onLog: () => {},
      report: (error) => ended.reject(error),
      onEnd: (end, message) => ended.resolve(`${end}: ${message}`),
    });
    if (greets) runner.write(encodeFrame({ type: 'ready', protocol: 1 }));
    const event = (milliseconds = 5_000) => {
      const asked = new UnaryInvocation(performance.now() + milliseconds, (call) => {
        calls.push(call.method);
        return response(call.method);
      });
      channel.begin(asked, (id): ToRunner => ({ type: 'cancel', id }));
      return asked.result.then(({ outcome }) => outcome, (error: Error) => error.message);
    };
    return { channel, socket, runner, received, ended: ended.promise, calls, event };
  };
}
