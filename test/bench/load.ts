// What the load generator is asked and what it answers; and the driver of its process.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** One run of the generator. */
export interface Plan {
  port: number;
  /** Whole HTTP/1.1 requests, sent in turn; any answer but a 2xx is an error. */
  requests: readonly string[];
  /**
   * With it, the first connection sends the first request and each so many after it, the second those from the second one,
   * and so on: each connection stays with one of so many tenants whose requests are listed in turn.
   */
  tenants?: number;
  /** Keep-alive connections, each with one request in flight. */
  connections: number;
  seconds: number;
  /** How long a connection rests after each answer, as people do; without it, it does not. */
  pauseMilliseconds?: number;
}

/** What came of a run. */
export interface LoadResult {
  requests: number;
  seconds: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
}

/** What the generator sends back. */
export type GeneratorAnswer = { type: 'result'; result: LoadResult } | { type: 'failed'; reason: string };

/** A generator process. */
export interface Generator {
  /** Throws when an answer was not a 2xx, or a connection broke. */
  run(plan: Plan): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** Starts a generator in a process of its own, so that it is not measured with anything else. */
export function startGenerator(): Generator {
  const child = fork(new URL('./generator.ts', import.meta.url), { detached: true });
  return {
    async run(plan) {
      const answer = nextAnswer(child);
      child.send(plan);
      const message = await answer;
      if (message.type === 'failed') throw new Error(`load generator: ${message.reason}`);
      return message.result;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill();
      await gone;
    },
  };
}

function nextAnswer(child: ChildProcess): Promise<GeneratorAnswer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the load generator ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      // Both ends of this channel are ours.
      resolve(message as GeneratorAnswer);
    });
  });
}

/** Renders one request as it goes over the wire. */
export function renderRequest(
  request: { method: string; path: string; token?: string | undefined; body?: unknown },
): string {
  const lines = [`${request.method} ${request.path} HTTP/1.1`, 'Host: 127.0.0.1'];
  if (request.token !== undefined) lines.push(`Authorization: Bearer ${request.token}`);
  if (request.body === undefined) return `${lines.join('\r\n')}\r\n\r\n`;
  const body = JSON.stringify(request.body);
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
