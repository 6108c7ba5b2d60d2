// Files of an app.
import type { AppDefinition } from '../../storage/definition.ts';
import { requireStillAdmitted } from '../auth/sessions/still-admitted.ts';
import type { Deps } from '../deps.ts';
import { requireFile, requireReadable, uploader } from '../files/access.ts';
import { download } from '../files/download.ts';
import { parseFilename } from '../files/filename.ts';
import { linkSeconds, makeLink, requireLink } from '../files/link.ts';
import { fileResponse, showFile, showFiles } from '../files/list.ts';
import { parseMediaType, requireUncoded } from '../files/media-type.ts';
import { removeFile } from '../files/remove.ts';
import { upload } from '../files/upload.ts';
import { hookErrors } from '../hooks/errors.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import {
  described,
  integer,
  object,
  okResponse,
  optional,
  pageSchema,
  string,
  timestamp,
} from '../contract/schema.ts';
import type { Principal } from '../scope.ts';

const files = '/api/workspaces/:workspace/apps/:app/files';

/** What routes need to admit those who may read the file. */
interface Reading {
  deps: Deps;
  target: { app: AppDefinition };
  params: { readonly id: string };
  principal: Principal | null;
  now: Date;
  queryParameters(): Readonly<Record<string, string>>;
}

function admitReader({ deps, target, params: { id }, principal, now, queryParameters }: Reading) {
  return requireReadable(deps, target.app, { id, principal, now, query: queryParameters() });
}

/** The request and response headers of a download, with a token or a link. */
const ofDownload = {
  status: 200,
  response: described(string(), 'The content of the file.'),
  contentType: '*/*',
  headers: {
    'Range': 'One range of bytes. For several ranges, the whole file is sent.',
    'If-Range': 'The `ETag` that the range refers to. If the file has another, the whole file is sent.',
    'If-None-Match': 'The `ETag` that the client already has.',
  },
  rawStatuses: {
    206: 'The part of the file that `Content-Range` names.',
    304: 'The file has not changed.',
  },
} as const;

/** Uploads a file. */
export const filesUpload = route({
  method: 'POST',
  path: files,
  summary: 'Stores the body as a file. `X-Filename` is its name, `Content-Type` its type.',
  scope: 'member',
  key: 'files:write',
  readsBody: true,
  headers: {
    'X-Filename':
      'The file name. The server decodes percent signs and stores the last path segment. Default: `file`.',
  },
  status: 201,
  response: fileResponse,
  errors: ['validation'],
  handle: async ({ deps, target: { app }, principal, bodyStream, now }) => {
    const { contentLength, header, bytes } = bodyStream();
    requireUncoded(header('content-encoding'));
    const row = await upload(deps, app, {
      filename: parseFilename(header('x-filename')),
      mime: parseMediaType(header('content-type')),
      uploadedBy: uploader(principal),
      announced: contentLength,
      bytes,
      requireSender: () => requireStillAdmitted(deps, app, principal),
      now,
    });
    return showFile(row);
  },
});

/** Lists files. */
export const filesList = route({
  method: 'GET',
  path: files,
  summary: 'Lists the files of an app, newest first: all of them for admins, their own for end-users.',
  scope: 'member',
  key: 'files:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(fileResponse),
  handle: ({ deps, target: { app }, principal, query }) =>
    showFiles(deps, app, { principal, page: toPageRequest(query) }),
});

/** Downloads a file. */
export const filesGet = route({
  method: 'GET',
  path: `${files}/:id`,
  summary:
    'Returns the content of a file to callers who may read it, with its own type. `X-Filename` is its name.',
  scope: 'anyone',
  key: 'files:read',
  ...ofDownload,
  errors: ['range_not_satisfiable'],
  admit: admitReader,
  handle: ({ deps, target: { app }, admitted: file }) => download(deps, app, file),
});

/** Shows the metadata of a file. */
export const filesMeta = route({
  method: 'GET',
  path: `${files}/:id/meta`,
  summary: 'Returns the name, type, size and date of a file to callers who may read it.',
  scope: 'anyone',
  key: 'files:read',
  status: 200,
  response: fileResponse,
  admit: admitReader,
  handle: ({ admitted: file }) => showFile(file),
});

/** Deletes a file. */
export const filesRemove = route({
  method: 'DELETE',
  path: `${files}/:id`,
  summary: 'Deletes a file. Admins may delete any file, end-users their own.',
  scope: 'member',
  key: 'files:write',
  status: 200,
  response: okResponse,
  errors: ['conflict', ...hookErrors],
  handle: ({ deps, target: { app }, params: { id }, principal, origin: { requestId }, now }) =>
    removeFile(deps, app, { id, principal, requestId, now }),
});

/** Makes a link for browsers. */
export const filesLink = route({
  method: 'POST',
  path: `${files}/:id/link`,
  summary:
    'Creates a link with which anybody may read the file for some time, without a token. For callers who may read it.',
  scope: 'anyone',
  key: 'files:read',
  bodyMayBeEmpty: true,
  body: object({
    expires_in: described(
      optional(integer({ min: 1, max: linkSeconds.max })),
      `Lifetime in seconds; default ${linkSeconds.default}.`,
    ),
  }),
  status: 201,
  response: object({ url: described(string(), 'A path on this server.'), expires_at: timestamp() }),
  admit: admitReader,
  handle: ({ deps, target: { app }, admitted: file, body, now }) =>
    makeLink(deps, app, { file, seconds: body.expires_in ?? linkSeconds.default, now }),
});

/** Downloads a file by such a link. */
export const filesShared = route({
  method: 'GET',
  path: `${files}/:id/shared`,
  summary: 'Returns the content of a file to a caller with a link to it.',
  scope: 'open',
  query: object({
    expires: described(integer({ min: 0 }), 'From the link.'),
    signature: described(string({ max: 100 }), 'From the link.'),
  }),
  ...ofDownload,
  errors: ['forbidden', 'range_not_satisfiable'],
  handle: async ({ deps, target: { app }, params: { id }, query: { expires, signature }, now }) => {
    requireLink(deps, app, { id, expires, signature, now });
    return download(deps, app, await requireFile(deps, app, id));
  },
});
