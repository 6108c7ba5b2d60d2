// Links that let a browser read one file for a while without a token: the link itself is the right.
import { timingSafeEqual } from 'node:crypto';
import type { AppDefinition } from '../../storage/definition.ts';
import type { FileRow } from '../../storage/app/files.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

/** Seconds that a link lives when nobody says, and at most. */
export const linkSeconds = { default: 300, max: 604_800 };

/** A link to one file. */
export interface FileLink {
  /** A path on this server. */
  url: string;
  expires_at: Date;
}

/** Makes a link to a file that the caller may read. */
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

/** Throws `403 forbidden` for a link that is not ours, or not any more. */
export function requireLink(
  { secrets }: Pick<Deps, 'secrets'>,
  app: AppDefinition,
  { id, expires, signature, now }: { id: string; expires: number; signature: string; now: Date },
): void {
  // As text: bytes can be written in many ways, of which one is ours.
  const wanted = Buffer.from(signatureOf(secrets, app, { id: id.toLowerCase(), expires }));
  const given = Buffer.from(signature);
  const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted);
  if (!isOurs) fail('forbidden', 'this link is not one of this server');
  if (now.getTime() >= expires * 1_000) fail('forbidden', 'this link has expired');
}

/** By the app's opaque names: a later app of the same id has other ones. */
function signatureOf(
  secrets: Deps['secrets'],
  { workspace: { database }, schema }: AppDefinition,
  { id, expires }: { id: string; expires: number },
): string {
  return secrets.linkSignature(`${database}/${schema}/${id}?${expires}`).toString('base64url');
}
