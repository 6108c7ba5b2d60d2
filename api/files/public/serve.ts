// Static files of an app at its own origin: `<hooks.dir>/<workspace>/<app>/public/`. They are the author's, as custom routes are:
// pages may run scripts here, where nothing of another tenant is.
import { extname } from 'node:path';
import { lookup } from 'mrmime';
import type { Deps } from '../../deps.ts';
import { ApiError, fail } from '../../errors.ts';
import type { Header, HeaderList } from '../../http/header-list.ts';
import { writeHead } from '../../http/response-headers.ts';
import type { ResponseWriter } from '../../contract/route.ts';
import { matchesTag, parseRange } from '../byte-range.ts';
import { ClientDisconnected, pipe } from '../pipe.ts';
import { findPublic, findTopPage, type PublicFile } from './find.ts';

/** Bundlers put a hash of the content into a name, such as `app-B8f3Kq2x.js`: at that name, the bytes stay as they are. */
const hashedName = /[.-](?=[\w-]*\d)[\w-]{8,}\.\w+$/;

/** The page may be framed by pages of its own origin only; all else is the author's choice, who can write it into the page. */
const pageHeaders: HeaderList = [
  ['Content-Security-Policy', "frame-ancestors 'self'"],
  ['X-Frame-Options', 'SAMEORIGIN'],
  ['X-Content-Type-Options', 'nosniff'],
];
/** The defaults of the server are for responses that run nothing. */
const replacedNames: ReadonlySet<string> = new Set([
  ...pageHeaders.map(([name]) => name),
  'Permissions-Policy',
]);

/**
 * Serves a path of an app's origin from a folder. Where there is no such file and a browser asks for a page, it is the page at
 * the top: single-page apps have their routes in the browser. Throws `404 not_found` otherwise.
 */
export async function servePublic(
  deps: Pick<Deps, 'observe'>,
  { root, path }: { root: string; path: string },
  writer: ResponseWriter,
): Promise<void> {
  const { response, headers } = writer;
  const { req } = response;
  const found = await findPublic(root, path);
  if (found === 'folder') {
    const query = /\?.*$/.exec(req.url ?? '')?.[0] ?? '';
    // The path begins with a name, so that this cannot be the address of another host.
    writeHead(response, 308, [...headers, ['Location', `/${path}/${query}`], ['Content-Length', '0']]).end();
    return;
  }
  const file = found ?? (isPage(path, req.headers.accept) ? await findTopPage(root) : undefined);
  if (file === undefined) fail('not_found', 'no hook has registered this route, and no file has this name');
  try {
    writer.reserveFile();
    const portion = writeFileHead(file, writer);
    if (portion === undefined) {
      await file.handle.close();
      response.end();
      return;
    }
    const bytes = file.handle.createReadStream({ ...portion, autoClose: true });
    pipe(bytes, portion.end - portion.start + 1, response).catch((error: unknown) => {
      // A disconnected client is no failure of the server.
      if (error instanceof ClientDisconnected) return;
      deps.observe({ type: 'background_failed', task: 'send a static file', error: String(error) });
    });
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

/** True when a browser asks for a page, and not for a part of one. */
function isPage(path: string, accept: string | undefined): boolean {
  return extname(path) === '' && accept !== undefined && accept.includes('text/html');
}

/** Writes the head of the response; returns the bytes to send, if there are any. Throws `416 range_not_satisfiable`. */
function writeFileHead(
  { name, size, updatedAt }: PublicFile,
  { response, headers }: ResponseWriter,
): { start: number; end: number } | undefined {
  const { req } = response;
  const tag = `"${size.toString(36)}-${updatedAt.getTime().toString(36)}"`;
  const always: HeaderList = [
    ...headers.filter(([header]) => !replacedNames.has(header)),
    ...pageHeaders,
    ['ETag', tag],
    ['Accept-Ranges', 'bytes'],
    ['Cache-Control', hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'public, no-cache'],
  ];
  if (matchesTag(req.headers['if-none-match'], tag)) {
    writeHead(response, 304, always);
    return undefined;
  }
  const isWhole = req.method !== 'GET' || (req.headers['if-range'] ?? tag) !== tag;
  const range = isWhole ? undefined : parseRange(req.headers.range, size);
  if (range === 'unsatisfiable') {
    throw new ApiError('range_not_satisfiable', `the file has ${size} bytes`, [[
      'Content-Range',
      `bytes */${size}`,
    ]]);
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  writeHead(response, range === undefined ? 200 : 206, [
    ...always,
    ['Content-Type', typeOf(name)],
    ['Content-Length', String(end - start + 1)],
    ...(range === undefined ? [] : [['Content-Range', `bytes ${start}-${end}/${size}`] satisfies Header]),
  ]);
  return req.method === 'HEAD' || size === 0 ? undefined : { start, end };
}

/** By the extension. Text is UTF-8, as all that is written today. */
function typeOf(name: string): string {
  const type = lookup(name) ?? 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
