// Files of an app.
import { requireStillAdmitted } from '../auth/sessions/still-admitted.ts';
import { fileFor, fileOf, uploaderOf } from '../files/access.ts';
import { download } from '../files/download.ts';
import { filenameOf } from '../files/filename.ts';
import { linkSeconds, makeLink, requireLink } from '../files/link.ts';
import { fileAnswer, showFile, showFiles } from '../files/list.ts';
import { mediaTypeOf, requireUncoded } from '../files/media-type.ts';
import { removeFile } from '../files/remove.ts';
import { upload } from '../files/upload.ts';
import { hookErrors } from '../hooks/errors.ts';
import { pageMembers, pageRequestOf } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { described, done, integer, object, optional, pageOf, text, timestamp } from '../contract/schema.ts';

const files = '/api/workspaces/:workspace/apps/:app/files';

/** How the bytes of a file are asked for and answered, whoever asks. */
const ofDownload = {
  status: 200,
  response: described(text(), 'The bytes of the file.'),
  contentType: '*/*',
  headers: {
    'Range': 'One range of bytes; of several, the whole is sent.',
    'If-Range': 'The `ETag` that a range is asked of: of another, the whole is sent.',
    'If-None-Match': 'The `ETag` that is there already.',
  },
  ownAnswers: {
    206: 'The bytes that `Content-Range` names.',
    304: 'The bytes are those that are there already.',
  },
} as const;

/** Uploads a file. */
export const filesUpload = route({
  method: 'POST',
  path: files,
  summary: 'Stores the body as a file. `X-Filename` gives its name, `Content-Type` its type.',
  scope: 'member',
  readsBody: true,
  headers: { 'X-Filename': 'The name: its last path segment, percent-decoded; `file` when left out.' },
  status: 201,
  response: fileAnswer,
  errors: ['validation'],
  handle: async ({ deps, target: { app }, principal, incoming, now }) => {
    const { announced, header, bytes } = incoming();
    requireUncoded(header('content-encoding'));
    const row = await upload(deps, app, {
      filename: filenameOf(header('x-filename')),
      mime: mediaTypeOf(header('content-type')),
      uploadedBy: uploaderOf(principal),
      announced,
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
  summary: 'Files of the app, newest first: all for its admins, their own for end-users.',
  scope: 'member',
  query: object(pageMembers),
  status: 200,
  response: pageOf(fileAnswer),
  handle: ({ deps, target: { app }, principal, query }) =>
    showFiles(deps, app, { principal, page: pageRequestOf(query) }),
});

/** Downloads a file. */
export const filesGet = route({
  method: 'GET',
  path: `${files}/:id`,
  summary: 'The bytes of a file, with its own type; `X-Filename` has its name.',
  scope: 'member',
  ...ofDownload,
  errors: ['range_not_satisfiable'],
  handle: async ({ deps, target: { app }, params: { id }, principal }) =>
    download(deps, app, await fileFor(deps, app, { id, principal, purpose: 'read' })),
});

/** Shows what is known of a file. */
export const filesMeta = route({
  method: 'GET',
  path: `${files}/:id/meta`,
  summary: 'What is known of a file.',
  scope: 'member',
  status: 200,
  response: fileAnswer,
  handle: async ({ deps, target: { app }, params: { id }, principal }) =>
    showFile(await fileFor(deps, app, { id, principal, purpose: 'read' })),
});

/** Deletes a file. */
export const filesRemove = route({
  method: 'DELETE',
  path: `${files}/:id`,
  summary: 'Deletes a file: an admin any, an end-user its own.',
  scope: 'member',
  status: 200,
  response: done,
  errors: ['conflict', ...hookErrors],
  handle: ({ deps, target: { app }, params: { id }, principal, origin: { requestId }, now }) =>
    removeFile(deps, app, { id, principal, requestId, now }),
});

/** Makes a link for browsers. */
export const filesLink = route({
  method: 'POST',
  path: `${files}/:id/link`,
  summary: 'Makes a link by which anybody may read the file for a while, without a token.',
  scope: 'member',
  bodyMayBeEmpty: true,
  body: object({
    expires_in: described(
      optional(integer({ min: 1, max: linkSeconds.max })),
      `Seconds; ${linkSeconds.default} when left out.`,
    ),
  }),
  status: 201,
  response: object({ url: described(text(), 'A path on this server.'), expires_at: timestamp() }),
  exists: ({ deps, target: { app }, params: { id } }) => fileOf(deps, app, id),
  handle: async ({ deps, target: { app }, params: { id }, principal, body, now }) => {
    const file = await fileFor(deps, app, { id, principal, purpose: 'read' });
    return makeLink(deps, app, { file, seconds: body.expires_in ?? linkSeconds.default, now });
  },
});

/** Downloads a file by such a link. */
export const filesShared = route({
  method: 'GET',
  path: `${files}/:id/shared`,
  summary: 'The bytes of a file, to whoever has a link to it.',
  scope: 'open',
  query: object({
    expires: described(integer({ min: 0 }), 'Of the link.'),
    signature: described(text({ max: 100 }), 'Of the link.'),
  }),
  ...ofDownload,
  errors: ['forbidden', 'range_not_satisfiable'],
  handle: async ({ deps, target: { app }, params: { id }, query: { expires, signature }, now }) => {
    requireLink(deps, app, { id, expires, signature, now });
    return download(deps, app, await fileOf(deps, app, id));
  },
});
