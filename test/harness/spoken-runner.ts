// Hook runners that a test speaks for, in place of real ones: what a process may say whose code has taken it over.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { FrameReader } from '../../api/hooks/rpc/frames.ts';
import type { ToRunner } from '../../hook-runner/protocol.ts';
import type { RunnerReport, RunnerRequest } from '../../supervisor/protocol.ts';
import { encodeFrame } from './frame.ts';

/** Says what it likes to a message of the API. */
export type Speaker = (message: ToRunner, say: (message: object) => void) => void;

/** Starts a runner for each request for one, as the supervisor would, once `mayStart` lets it. */
export function spokenRunners(
  speaker: Speaker,
  report: (report: RunnerReport, handle: unknown) => void,
  mayStart?: () => Promise<void>,
): (request: RunnerRequest) => void {
  const runners = new Map<string, Socket>();
  const start = async (id: string) => {
    await mayStart?.();
    const { ours, theirs } = await socketPair();
    const say = (message: object) => void theirs.write(encodeFrame(message));
    const reader = new FrameReader(16_777_216, (message) => speaker(message as unknown as ToRunner, say));
    theirs.on('data', (chunk: Buffer) => reader.push(chunk)).on('error', () => {});
    runners.set(id, theirs);
    report({ type: 'runner_started', id, pid: 0 }, ours);
    say({ type: 'ready', protocol: 1 });
  };
  return (request) => {
    if (request.type === 'runner_start') return void start(request.id);
    if (request.type !== 'runner_stop') return;
    runners.get(request.id)?.destroy();
    report({ type: 'runner_exited', id: request.id }, undefined);
  };
}

async function socketPair(): Promise<{ ours: Socket; theirs: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const theirs = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [ours]: Socket[] = await once(server, 'connection');
  server.close();
  if (ours === undefined) throw new Error('nobody connected');
  return { ours, theirs };
}
