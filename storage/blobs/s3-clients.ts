// The clients of an S3 API, with their timeouts.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { StoreUnavailable } from './blob-store.ts';

/** The settings of the bucket. An empty `endpoint` is AWS's own; empty keys are searched as the SDK does. */
export interface S3Access {
  bucket: string;
  region: string;
  endpoint: string;
  access_key_id: string;
  secret_access_key: string;
  virtual_hosted_style_request: boolean;
}

/** The clients of one bucket. */
export interface S3Clients {
  /** For background work. Removing a thousand objects takes some stores a while. */
  keeper: S3Client;
  /** For uploads. */
  writer: S3Client;
  /** For downloads, which are as slow as their readers. A reader may pause, and its connection stays open. */
  reader: S3Client;
}

const connectionTimeout = 5_000;
const keeperTimeoutMs = 30_000;
/** A store that assembles the parts of an upload sends something now and then. */
const silencesPerResponse = 12;
/** Several times the XML of a page of a thousand names of ours. */
const maxResponseBytes = 4 * 1_048_576;

/** Makes the clients. A store that is silent for `silence` milliseconds during a request is given up. The SDK tries twice. */
export function openClients(
  { region, endpoint, virtual_hosted_style_request, access_key_id, secret_access_key }: S3Access,
  silence: number,
): S3Clients {
  const common: S3ClientConfig = {
    region: region === '' ? 'us-east-1' : region,
    forcePathStyle: !virtual_hosted_style_request,
    // Stores that implement no more than the API know no checksums beyond it.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    ...(endpoint === '' ? {} : { endpoint }),
    ...(access_key_id === ''
      ? {}
      : { credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key } }),
  };
  const make = (requestHandler: S3ClientConfig['requestHandler']) => {
    const client = new S3Client({ ...common, requestHandler: { connectionTimeout, ...requestHandler } });
    limitResponses(client, silence * silencesPerResponse);
    return client;
  };
  const keeper = make({ socketTimeout: keeperTimeoutMs });
  addContentMd5(keeper);
  const each = { maxSockets: Infinity };
  return {
    keeper,
    writer: make({ socketTimeout: silence }),
    reader: make({
      socketTimeout: 0,
      // Until the response begins.
      requestTimeout: silence,
      throwOnRequestTimeout: true,
      httpAgent: each,
      httpsAgent: each,
    }),
  };
}

/** Adds the one checksum that all stores know, and many require for removing objects. The SDK sends a later one. */
function addContentMd5(client: S3Client): void {
  client.middlewareStack.add((next, { commandName }) => async (given) => {
    if (commandName !== 'DeleteObjectsCommand' || !isRequest(given.request)) return await next(given);
    const { headers, body } = given.request;
    headers['content-md5'] = createHash('md5').update(body).digest('base64');
    return await next(given);
  }, { step: 'build', name: 'contentMd5' });
}

function isRequest(value: unknown): value is { headers: Record<string, string>; body: string | Uint8Array } {
  return typeof value === 'object' && value !== null && 'headers' in value && 'body' in value;
}

/** Gives up responses that are too long, or have not ended so many milliseconds after they began; not those with blobs. */
function limitResponses(client: S3Client, milliseconds: number): void {
  client.middlewareStack.add((next, { commandName }) => async (given) => {
    const output = await next(given);
    const { response } = output;
    if (isResponse(response) && !(commandName === 'GetObjectCommand' && response.statusCode < 300)) {
      response.body = Readable.from(limited(response.body, milliseconds));
    }
    return output;
  }, { step: 'deserialize', priority: 'low', name: 'boundAnswers' });
}

function isResponse(value: unknown): value is { statusCode: number; body: Readable } {
  return typeof value === 'object' && value !== null && 'statusCode' in value && 'body' in value &&
    value.body instanceof Readable;
}

async function* limited(body: Readable, milliseconds: number): AsyncIterable<Uint8Array> {
  const timer = setTimeout(() => body.destroy(new Error('the response did not end')), milliseconds);
  let length = 0;
  try {
    for await (const chunk of body) {
      const bytes: Uint8Array = chunk;
      length += bytes.byteLength;
      if (length > maxResponseBytes) throw new Error(`the response is longer than ${maxResponseBytes} bytes`);
      yield bytes;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The bytes of a response, as they are read. Reading throws `StoreUnavailable` when the next ones do not come in time. */
export function withSilenceLimit(body: Readable, milliseconds: number): Readable {
  const bytes = body[Symbol.asyncIterator]();
  const giveUp = () => body.destroy(new Error('no more bytes came'));
  return new Readable({
    highWaterMark: 1,
    read() {
      const silence = setTimeout(giveUp, milliseconds);
      bytes.next().finally(() => clearTimeout(silence)).then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: unknown) => this.destroy(new StoreUnavailable(error)),
      );
    },
    // The end of a reader does not wait for a silent store.
    destroy(error, done) {
      body.destroy();
      done(error);
    },
  });
}
