// Signed links, with which a browser can read one file for a while without a token.
import { timingSafeEqual } from 'node:crypto';
import type { AppDefinition } from '../../storage/definition.ts';
import type { FileRow } from '../../storage/app/files.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { FileLinks } from '../records/ports.ts';

/** The default and the longest lifetime of a link, in seconds. */
export const linkSeconds = { default: 300, max: 604_800 };

/** A link to one file. */
export interface FileLink {
  /** The path on this server. */
  url: string;
  expires_at: Date;
}

/** Makes a link to a file. */
export function makeLink(
  { secrets }: Pick<Deps, 'secrets'>,
  app: AppDefinition,
  { file, seconds, now }: { file: FileRow; seconds: number; now: Date },
): FileLink {
  const expires = Math.floor(now.getTime() / 1_000) + seconds;
  const signature = signatureOf(secrets, app, { id: file.id, expires });
  const path = `/api/workspaces/${app.workspace.id}/apps/${app.id}/files/${file.id}/shared`;
  return {
    url: `${path}?expires=${expires}&signature=${signature}`,
    expires_at: new Date(expires * 1_000),
  };
}

/** Shows files with links of the default lifetime. */
export function createFileLinks({ secrets, now }: Pick<Deps, 'secrets' | 'now'>): FileLinks {
  return {
    show: (app, file) => {
      const { url, expires_at } = makeLink({ secrets }, app, {
        file,
        seconds: linkSeconds.default,
        now: now(),
      });
      const { id, filename, mime, size, created_at } = file;
      return {
        id,
        filename,
        mime,
        size,
        created_at: created_at.toISOString(),
        url,
        expires_at: expires_at.toISOString(),
      };
    },
  };
}

/** Throws `403 forbidden` for a link with a wrong signature, and for an expired one. */
export function requireLink(
  { secrets }: Pick<Deps, 'secrets'>,
  app: AppDefinition,
  { id, expires, signature, now }: { id: string; expires: number; signature: string; now: Date },
): void {
  // Compared as text, since the same bytes have several base64 forms.
  const wanted = Buffer.from(signatureOf(secrets, app, { id: id.toLowerCase(), expires }));
  const given = Buffer.from(signature);
  const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted);
  if (!isOurs) fail('forbidden', 'this link is not one of this server');
  if (now.getTime() >= expires * 1_000) fail('forbidden', 'this link has expired');
}

/** Signs the database and schema names, which a later app of the same id does not share. */
function signatureOf(
  secrets: Deps['secrets'],
  { workspace: { database }, schema }: AppDefinition,
  { id, expires }: { id: string; expires: number },
): string {
  return secrets.linkSignature(`${database}/${schema}/${id}?${expires}`).toString('base64url');
}
