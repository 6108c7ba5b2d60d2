// Decompresses the responses of other servers for `fetch`.
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { errorCode } from '../../storage/sql/error-code.ts';
import type { EgressResponse } from '../egress/client.ts';
import { EgressError } from '../egress/failure.ts';
import type { HeaderList } from '../http/header-list.ts';

interface Limit {
  maxOutputLength: number;
}

type Decode = (body: Buffer, limit: Limit) => Promise<Buffer>;

const decodeZlib: Decode = promisify(inflate);
const decodeDeflate: Decode = promisify(inflateRaw);
const decodeGzip: Decode = promisify(gunzip);
const decodeZstd = promisify(zstdDecompress);
/** A response says how much memory its decoding takes; RFC 9659 allows 8 MiB. */
const window = { [constants.ZSTD_d_windowLogMax]: 23 };

/** The codings of RFC 9110 section 8.4.1 and of the registry, by their names. */
const codings: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', decodeGzip],
  ['x-gzip', decodeGzip],
  // Some servers leave out the zlib wrapper that the name promises; a wrapped body begins with an 8.
  [
    'deflate',
    (body, limit) => ((body[0] ?? 8) & 0xf) === 8 ? decodeZlib(body, limit) : decodeDeflate(body, limit),
  ],
  ['br', promisify(brotliDecompress)],
  ['zstd', (body, limit) => decodeZstd(body, { ...limit, params: window })],
]);

/** Each coding costs a pass over the body, and the other server chooses how many there are. */
const maxCodings = 5;

/**
 * Decodes the body of a response, to at most `maxBytes`, and removes the headers that no longer apply. Leaves a body with an
 * unknown coding as it is. Throws `EgressError`.
 */
export async function decodeBody(
  { headers, body }: Pick<EgressResponse, 'headers' | 'body'>,
  maxBytes: number,
): Promise<{ headers: HeaderList; body: Buffer }> {
  const names = readCodings(headers);
  if (names.length === 0 || body.length === 0) return { headers, body };
  if (names.length > maxCodings) {
    throw new EgressError('unreachable', `the response has more than ${maxCodings} content codings`);
  }
  const decoders = names.map((name) => codings.get(name));
  let content = body;
  // The coding that was applied last is removed first.
  for (const decode of decoders.reverse()) {
    if (decode === undefined) return { headers, body };
    content = await limited(maxBytes, () => decode(content, { maxOutputLength: maxBytes }));
  }
  const removed = ['content-encoding', 'content-length'];
  return { headers: headers.filter(([name]) => !removed.includes(name.toLowerCase())), body: content };
}

function readCodings(headers: HeaderList): string[] {
  return headers.filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(',').map((name) => name.trim()))
    .filter((name) => name !== '' && name !== 'identity');
}

async function limited(maxBytes: number, decode: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await decode();
  } catch (error) {
    const isLong = errorCode(error) === 'ERR_BUFFER_TOO_LARGE';
    const message = isLong
      ? `the response is longer than ${maxBytes} bytes`
      : 'the response is not what its Content-Encoding says';
    throw new EgressError(isLong ? 'too_large' : 'unreachable', message, { cause: error });
  }
}
