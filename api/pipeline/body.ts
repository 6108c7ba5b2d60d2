// Reads request bodies: limited and counted while they arrive. The shape of JSON is checked before it is parsed.
import { IncomingMessage } from 'node:http';
import { isCoded } from '../http/content-coding.ts';
import { ApiError, fail } from '../errors.ts';
import type { LargeBodyQueue } from '../http/protection/large-body-queue.ts';
import type { BodyStream } from '../contract/route.ts';
import type { RequestInfo } from '../http/request-info.ts';
import { noteProgress } from '../http/protection/body-time.ts';
import { uncountedBytes } from '../http/protection/memory-limit.ts';
import { parseExactJson } from '../../storage/sql/exact-json.ts';
import { scanJson, scanJsonInSteps } from '../http/protection/json-shape.ts';

/** From here on, work on a body takes several milliseconds; on eight megabytes it takes a tenth of a second. */
const largeBytes = 262_144;
/** The part of a large body whose shape is checked at a time: some milliseconds of work. */
const stepBytes = 1_048_576;

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/** Ends the request with `413 payload_too_large` when its `Content-Length` is over the limit. */
export function refuseLongBody(request: RequestInfo, maxBytes: number): void {
  const length = Number(request.header('content-length') ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Reads the whole body of a request for a workspace, or for none. Throws `413` over the limit, `429` when its address has too
 * much in memory, `422 deserialization` when the client disconnects before the end.
 */
export type ReadBytes = (request: RequestInfo, workspace: string | undefined) => Promise<Buffer>;

/**
 * Makes the reader of bodies of at most `maxBytes`. A large one is returned when it is its turn: the caller should parse it at
 * once, before the next `await`.
 */
export function bytesReader(maxBytes: number, largeBodies: LargeBodyQueue): ReadBytes {
  return async (request, workspace) => {
    const bytes = await readBytes(request, maxBytes);
    if (bytes.length > largeBytes) await largeBodies(workspace);
    return bytes;
  };
}

/**
 * Reads the body of a request as a JSON object, whose numbers are exact (`ExactNumber`). Throws what `ReadBytes` throws,
 * `422 deserialization` when the body is empty (unless it may be), of another type, encoded or not a JSON object, and
 * `400 validation` when its shape is refused.
 */
export type ReadJson = (
  request: RequestInfo,
  options: { workspace: string | undefined; mayBeEmpty: boolean | undefined },
) => Promise<Record<string, unknown>>;

/** Makes the reader of JSON bodies. Each part of the work on a large one has a turn of its own. */
export function jsonReader(read: ReadBytes, largeBodies: LargeBodyQueue): ReadJson {
  return async (request, { workspace, mayBeEmpty }) => {
    const bytes = await read(request, workspace);
    if (bytes.length === 0 && mayBeEmpty === true) return {};
    if (bytes.length === 0) fail('deserialization', 'the body is empty; send a JSON object');
    const type = request.header('content-type');
    if (type === undefined || !jsonType.test(type)) {
      fail('deserialization', 'the Content-Type must be application/json');
    }
    if (isCoded(request.header('content-encoding'))) {
      fail('deserialization', 'the body must be sent as it is, without a Content-Encoding');
    }
    if (bytes.length <= largeBytes) return parseObject(bytes, scanJson(bytes));
    const steps = scanJsonInSteps(bytes, stepBytes);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) await largeBodies(workspace);
    await largeBodies(workspace);
    const value = parseObject(bytes, step.value);
    await largeBodies(workspace);
    return value;
  };
}

function parseObject(bytes: Buffer, hasLongNumber: boolean): Record<string, unknown> {
  const value = parse(bytes, hasLongNumber ? parseExactJson : JSON.parse);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail('deserialization', 'the body must be a JSON object');
  }
  return value as Record<string, unknown>;
}

/** The body of a request, for a handler that reads it as it arrives. */
export function bodyStreamOf(request: RequestInfo): BodyStream {
  const length = request.header('content-length');
  return {
    contentLength: length === undefined ? undefined : Number(length),
    header: (name) => request.header(name),
    bytes: chunksOf(request),
  };
}

/** The chunks of a body. Those that the handler does not read are discarded, so that the client sees the response. */
async function* chunksOf(request: RequestInfo): AsyncGenerator<Buffer> {
  const stream = nodeRequestOf(request);
  noteProgress(stream);
  try {
    // Stays open when the handler stops reading: closing it would close the connection before the response.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      noteProgress(stream);
      yield chunk;
    }
  } catch (error) {
    throw stream.readableAborted ? disconnected() : error;
  } finally {
    stream.resume();
  }
}

function parse(bytes: Buffer, parseText: (text: string) => unknown): unknown {
  try {
    return parseText(bytes.toString('utf8'));
  } catch (error) {
    const detail = error instanceof SyntaxError ? error.message : 'syntax error';
    fail('deserialization', `the body is not JSON: ${detail.slice(0, 200)}`);
  }
}

function readBytes(request: RequestInfo, maxBytes: number): Promise<Buffer> {
  const stream = nodeRequestOf(request);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let reserved = 0;
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > maxBytes) throw tooLarge(maxBytes);
        if (length - reserved >= uncountedBytes) {
          request.reserve(length - reserved);
          reserved = length;
        }
        chunks.push(chunk);
      } catch (error) {
        // The rest of the body is discarded.
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
    stream.on('error', () => reject(disconnected()));
    stream.on('close', () => {
      // Every request closes. The error is made only where it is needed, because its stack costs as much as all of this.
      if (!stream.readableEnded) reject(disconnected());
    });
  });
}

function nodeRequestOf(request: RequestInfo): IncomingMessage {
  const node = request.event.runtime?.node?.req;
  return node instanceof IncomingMessage ? node : fail('internal', 'not served by Node over HTTP/1.1');
}

/** The client, which is gone, does not see this error; the log says that it was the client's. */
function disconnected(): ApiError {
  return new ApiError('deserialization', 'the body ended before its announced length');
}

/**
 * Leaves the connection open, and Node discards the rest of the body within its time limit. If it were closed, bytes that the
 * client still sends would reset it: most clients write everything before they read, and would not see the response.
 */
function tooLarge(maxBytes: number): ApiError {
  return new ApiError('payload_too_large', `the body exceeds ${maxBytes} bytes`);
}
