// What the load generator is asked and what it answers; and the driver of its process.
import { type LoadProcess, startLoadProcess } from './load-process.ts';

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
  /** How long a connection rests after each response, as people do; without it, it does not. */
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

/** A generator process; a run throws when a response was not a 2xx, or a connection broke. */
export type Generator = LoadProcess<Plan, LoadResult>;

/** Starts one. */
export function startGenerator(): Generator {
  return startLoadProcess('generator.ts');
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
