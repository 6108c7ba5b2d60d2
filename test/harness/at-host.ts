// Requests under a name that no DNS knows: `fetch` would not let a test choose `Host`.
import { once } from 'node:events';
import { type IncomingMessage, request as open } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { ApiResponse } from './api.ts';

/** What to send. A body is sent as JSON. */
export interface HostedRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Sends one request to a server, with this `Host`. */
export async function sendAtHost(
  url: string,
  host: string,
  path: string,
  { method = 'GET', headers = {}, body }: HostedRequest = {},
): Promise<ApiResponse> {
  const { hostname, port } = new URL(url);
  const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const all = { Host: host, ...type, ...headers };
  const request = open({ hostname, port, path, method, headers: all, agent: false });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(request, 'response') as [IncomingMessage];
  const text = await readText(response);
  const sent = new Headers(
    Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value])
    ),
  );
  const isJson = sent.get('content-type')?.includes('json') === true;
  return {
    status: response.statusCode ?? 0,
    headers: sent,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}
