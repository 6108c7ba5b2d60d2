// A crowd that asks all at once, each over a connection of its own, in a process of its own: a client library would
// take as much of two cores as the server.
import { connect } from 'node:net';
import { carryOut } from './load-process.ts';

/** Who asks for what. */
export interface StormPlan {
  port: number;
  /** Whole HTTP/1.1 requests: one storm sends them all. When all have their responses, the next one begins. */
  requests: readonly string[];
  /** Storms begin until so many are over. */
  seconds: number;
}

/** How many responses there were, by status. */
export type StormResponses = Record<string, number>;

async function run({ port, requests, seconds }: StormPlan): Promise<StormResponses> {
  const until = performance.now() + seconds * 1_000;
  const responses: StormResponses = {};
  const rendered = requests.map((request) => Buffer.from(request));
  while (performance.now() < until) {
    const statuses = await Promise.all(rendered.map((request) => ask(port, request)));
    for (const status of statuses) responses[status] = (responses[status] ?? 0) + 1;
  }
  return responses;
}

/** Answers the status. The connection ends with the head: nobody asks what else there is. */
async function ask(port: number, request: Buffer): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.write(request);
  let head = '';
  for await (const chunk of socket) {
    head += String(chunk);
    if (head.includes('\r\n\r\n')) return Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  }
  throw new Error('the server closed a connection');
}

carryOut(run);
