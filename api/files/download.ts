// Downloads: the headers that keep a browser from running a file, then its bytes.
import type { IncomingMessage } from 'node:http';
import { BlobMissing } from '../../storage/blobs/blob-store.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import type { FileRow } from '../../storage/app/files.ts';
import type { Header, HeaderList } from '../http/header-list.ts';
import { isActive } from '../http/protection/active-types.ts';
import { sandboxed, writeHead } from '../http/response-headers.ts';
import type { Deps } from '../deps.ts';
import { ApiError, fail } from '../errors.ts';
import { RawResponse, type ResponseWriter } from '../contract/route.ts';
import { blobKey } from './access.ts';
import { matchesTag, parseRange } from './byte-range.ts';
import { disposition, filenameHeader } from './filename.ts';
import { ClientDisconnected, pipe } from './pipe.ts';

/** The request headers that the response depends on, with names in lower case. */
type Heading = Readonly<Record<'range' | 'if-range' | 'if-none-match', string | undefined>>;

/** The response with the bytes of a file, or a part of them. */
export function download(
  deps: Pick<Deps, 'blobs' | 'hosts' | 'observe'>,
  app: AppDefinition,
  file: FileRow,
): RawResponse {
  return new RawResponse(async (line) => {
    const { headers, method } = line.response.req;
    const heading: Heading = {
      // Parts are defined for GET alone (RFC 9110 section 14.2).
      'range': method === 'GET' ? headers.range : undefined,
      'if-range': headers['if-range']?.toString(),
      'if-none-match': headers['if-none-match'],
    };
    await send(deps, { app, file, line, heading });
  });
}

interface Sending {
  app: AppDefinition;
  file: FileRow;
  line: ResponseWriter;
  heading: Heading;
}

async function send(
  deps: Pick<Deps, 'blobs' | 'hosts' | 'observe'>,
  { app, file, line, heading }: Sending,
): Promise<void> {
  const { response } = line;
  // A file never changes, so its id identifies its bytes.
  const tag = `"${file.id}"`;
  const always = headersOf(file, tag, line);
  if (matchesTag(heading['if-none-match'], tag)) {
    writeHead(response, 304, always).end();
    return;
  }
  const isSame = heading['if-range'] === undefined || heading['if-range'] === tag;
  const portion = isSame ? parseRange(heading.range, file.size) : undefined;
  if (portion === 'unsatisfiable') {
    throw new ApiError('range_not_satisfiable', `the file has ${file.size} bytes`, [
      ['Content-Range', `bytes */${file.size}`],
    ]);
  }
  const range = portion ?? { start: 0, end: file.size - 1 };
  const length = range.end - range.start + 1;
  const head: HeaderList = [
    ...always,
    ['Content-Type', shownType(deps.hosts, file, response.req)],
    ['Content-Length', String(length)],
    ...(portion === undefined
      ? []
      : [['Content-Range', `bytes ${range.start}-${range.end}/${file.size}`] satisfies Header]),
  ];
  const status = portion === undefined ? 200 : 206;
  if (response.req.method === 'HEAD') {
    writeHead(response, status, head).end();
    return;
  }
  line.reserveFile();
  const bytes = await deps.blobs.open(blobKey(app, file.id), portion).catch(explainMissing);
  writeHead(response, status, head);
  pipe(bytes, length, response).catch((error: unknown) => {
    // A disconnected client is no failure of the server.
    if (error instanceof ClientDisconnected) return;
    deps.observe({ type: 'background_failed', task: 'send a file', error: String(error) });
  });
}

/** The type of a file. Where apps have origins of their own, the server's own shows nothing that a browser could run. */
function shownType(hosts: Deps['hosts'], { mime }: FileRow, { headers }: IncomingMessage): string {
  const isShown = !hosts.hasAppDomain || hosts.appOf(headers.host) !== undefined || !isActive(mime);
  return isShown ? mime : 'application/octet-stream';
}

function headersOf(file: FileRow, tag: string, { headers }: ResponseWriter): HeaderList {
  const kind = isActive(file.mime) ? 'attachment' : 'inline';
  return [
    ...sandboxed(headers),
    ['ETag', tag],
    ['Accept-Ranges', 'bytes'],
    ['Cache-Control', 'private, no-cache'],
    ['X-Filename', filenameHeader(file.filename)],
    ['Content-Disposition', disposition(kind, file.filename)],
  ];
}

/** A row without its bytes is a failure of the server, not a file that does not exist. */
function explainMissing(error: unknown): never {
  if (error instanceof BlobMissing) fail('internal', 'the bytes of this file are missing');
  throw error;
}
