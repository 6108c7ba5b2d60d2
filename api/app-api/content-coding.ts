// Decompresses the answers of other servers, as `fetch` shows them.
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

const inflated: Decode = promisify(inflate);
const inflatedRaw: Decode = promisify(inflateRaw);
const gunzipped: Decode = promisify(gunzip);
const unpacked = promisify(zstdDecompress);
/** An answer says how much memory it wants beside itself; RFC 9659 lets it have 8 MiB. */
const window = { [constants.ZSTD_d_windowLogMax]: 23 };

/** By the names of RFC 9110 section 8.4.1 and of the registry. */
const codings: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipped],
  ['x-gzip', gunzipped],
  // Some servers leave out the wrapping that the name asks for; a wrapped one begins with an 8.
  [
    'deflate',
    (body, limit) => ((body[0] ?? 8) & 0xf) === 8 ? inflated(body, limit) : inflatedRaw(body, limit),
  ],
  ['br', promisify(brotliDecompress)],
  ['zstd', (body, limit) => unpacked(body, { ...limit, params: window })],
]);

/** Each costs a pass over all of the body, and whoever answers says how many there are. */
const mostCodings = 5;

/**
 * The headers and the body of an answer without its codings, at most `maxBytes` of it. An unknown coding is left as it is.
 * Throws `EgressError`.
 */
export async function decodeBody(
  { headers, body }: Pick<EgressResponse, 'headers' | 'body'>,
  maxBytes: number,
): Promise<{ headers: HeaderList; body: Buffer }> {
  const names = codingsOf(headers);
  if (names.length === 0 || body.length === 0) return { headers, body };
  if (names.length > mostCodings) {
    throw new EgressError('unreachable', `the answer has more than ${mostCodings} content codings`);
  }
  const decodes = names.map((name) => codings.get(name));
  let content = body;
  // The last one was applied last.
  for (const decode of decodes.reverse()) {
    if (decode === undefined) return { headers, body };
    content = await within(maxBytes, () => decode(content, { maxOutputLength: maxBytes }));
  }
  const gone = ['content-encoding', 'content-length'];
  return { headers: headers.filter(([name]) => !gone.includes(name.toLowerCase())), body: content };
}

function codingsOf(headers: HeaderList): string[] {
  return headers.filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(',').map((name) => name.trim()))
    .filter((name) => name !== '' && name !== 'identity');
}

async function within(maxBytes: number, decode: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await decode();
  } catch (error) {
    const isLong = errorCode(error) === 'ERR_BUFFER_TOO_LARGE';
    const message = isLong
      ? `the answer is longer than ${maxBytes} bytes`
      : 'the answer is not what its Content-Encoding says';
    throw new EgressError(isLong ? 'too_large' : 'unreachable', message, { cause: error });
  }
}
