// Reading a body: capped and counted while it arrives; of JSON, its shape is scanned before it is parsed.
import { IncomingMessage } from 'node:http';
import { isCoded } from '../http/content-coding.ts';
import { ApiError, fail } from '../errors.ts';
import type { LargeBodyQueue } from '../http/protection/large-body-queue.ts';
import type { BodyStream } from '../contract/route.ts';
import type { RequestInfo } from '../http/request-info.ts';
import { noteProgress } from '../http/protection/body-time.ts';
import { uncountedBytes } from '../http/protection/memory-limit.ts';
import { scanJson } from '../http/protection/json-shape.ts';

/** To make something of more takes some milliseconds, and of eight megabytes a tenth of a second. */
const largeBytes = 262_144;

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/** Ends the request with `413` when the announced length is over the cap. */
export function refuseLongBody(arrival: RequestInfo, cap: number): void {
  const announced = Number(arrival.header('content-length') ?? 0);
  if (announced > cap) throw tooLarge(cap);
}

/**
 * Reads the whole body of a request about a workspace, or about none. Throws `413` over the cap, `429` when its address has
 * too much under way, `422 deserialization` when the client goes away before the end.
 */
export type ReadBytes = (arrival: RequestInfo, workspace: string | undefined) => Promise<Buffer>;

/** Makes the reader of bodies of `cap` bytes at most. What is made of a large one is best made at once: it is its turn. */
export function bytesReader(cap: number, turns: LargeBodyQueue): ReadBytes {
  return async (arrival, workspace) => {
    const bytes = await readBytes(arrival, cap);
    if (bytes.length > largeBytes) await turns(workspace);
    return bytes;
  };
}

/**
 * Reads the body of a request as a JSON object. Throws what reading it throws, `422 deserialization` when it is empty (unless
 * it may be), of another type, encoded or not a JSON object, `400 validation` when its shape is refused.
 */
export type ReadJson = (
  arrival: RequestInfo,
  of: { workspace: string | undefined; mayBeEmpty: boolean | undefined },
) => Promise<Record<string, unknown>>;

/** Makes the reader of JSON bodies. */
export function jsonReader(read: ReadBytes): ReadJson {
  return async (arrival, { workspace, mayBeEmpty }) => {
    const bytes = await read(arrival, workspace);
    if (bytes.length === 0 && mayBeEmpty === true) return {};
    if (bytes.length === 0) fail('deserialization', 'the body is empty; send a JSON object');
    const type = arrival.header('content-type');
    if (type === undefined || !jsonType.test(type)) {
      fail('deserialization', 'the Content-Type must be application/json');
    }
    if (isCoded(arrival.header('content-encoding'))) {
      fail('deserialization', 'the body must be sent as it is, without a Content-Encoding');
    }
    return objectIn(bytes);
  };
}

function objectIn(bytes: Buffer): Record<string, unknown> {
  scanJson(bytes);
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail('deserialization', 'the body must be a JSON object');
  }
  return value as Record<string, unknown>;
}

/** The body of a route that reads it as it comes. */
export function bodyStreamOf(arrival: RequestInfo): BodyStream {
  const announced = arrival.header('content-length');
  return {
    contentLength: announced === undefined ? undefined : Number(announced),
    header: (name) => arrival.header(name),
    bytes: streamOf(arrival),
  };
}

/** What a reader leaves is thrown away unread, so that the client sees the answer. */
async function* streamOf(arrival: RequestInfo): AsyncGenerator<Buffer> {
  const stream = nodeRequestOf(arrival);
  noteProgress(stream);
  try {
    // Left open when the reader stops: closing it would close the connection before the answer.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      noteProgress(stream);
      yield chunk;
    }
  } catch (error) {
    throw stream.readableAborted ? cutOff() : error;
  } finally {
    stream.resume();
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    const detail = error instanceof SyntaxError ? error.message : 'syntax error';
    fail('deserialization', `the body is not JSON: ${detail.slice(0, 200)}`);
  }
}

function readBytes(arrival: RequestInfo, cap: number): Promise<Buffer> {
  const stream = nodeRequestOf(arrival);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let held = 0;
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > cap) throw tooLarge(cap);
        if (length - held >= uncountedBytes) {
          arrival.reserve(length - held);
          held = length;
        }
        chunks.push(chunk);
      } catch (error) {
        // What still comes is thrown away unread.
        stream.removeAllListeners('data');
        stream.resume();
        chunks.length = 0;
        reject(error);
      }
    });
    stream.on(
      'end',
      () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    stream.on('error', () => reject(cutOff()));
    stream.on('close', () => {
      // Every request closes; an error, whose stack costs as much as the rest of this, is due only before the end.
      if (!stream.readableEnded) reject(cutOff());
    });
  });
}

function nodeRequestOf(arrival: RequestInfo): IncomingMessage {
  const request = arrival.event.runtime?.node?.req;
  return request instanceof IncomingMessage ? request : fail('internal', 'not served by Node over HTTP/1.1');
}

/** Nobody is left to be answered; the log says whose fault it was. */
function cutOff(): ApiError {
  return new ApiError('deserialization', 'the body ended before its announced length');
}

/**
 * Does not close the connection: what the client still sends would then reset it, and the client, which most often
 * writes all before it reads, would never see the answer. Node throws the rest away, for as long as a body may take.
 */
function tooLarge(cap: number): ApiError {
  return new ApiError('payload_too_large', `the body exceeds ${cap} bytes`);
}
