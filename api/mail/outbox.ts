// The outbox as programs read it: beside each mail's file, what is in it, by workspace.
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { unlessMissing } from '../../storage/sql/error-code.ts';
import { isUuid, uuidTime } from '../../storage/sql/ids.ts';
import { type Page, type PageRequest, slicePage } from '../../storage/sql/page.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

/** A mail of the outbox. */
export interface OutboxMail {
  id: string;
  to: string;
  subject: string;
  text: string;
  html?: string | undefined;
  created_at: Date;
}

/** The newest mails of a workspace that are listed. */
const maxListed = 1_000;
const suffix = '.json';

/** Begins with a dot, which no mail does. */
function folderOf(outbox: string, workspace: string): string {
  return join(outbox, '.workspaces', workspace);
}

/** Writes down what a mail of a workspace says. `outbox` is the folder of the mails. */
export async function writeDownMail(outbox: string, workspace: string, mail: OutboxMail): Promise<void> {
  const folder = folderOf(outbox, workspace);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${mail.id}.tmp`);
  await writeFile(draft, JSON.stringify(mail), { mode: 0o600 });
  await rename(draft, join(folder, mail.id + suffix));
}

/**
 * The newest mails of a workspace, also of one address only, newest first. An earlier workspace of the id has no part in it.
 * Throws `404 not_found` where mail does not go to the outbox.
 */
export async function listOutbox(
  { config }: Pick<Deps, 'config'>,
  { id, created_at }: WorkspaceDefinition,
  { to, page }: { to: string | undefined; page: PageRequest },
): Promise<Page<OutboxMail>> {
  if (config.mail.transport !== 'outbox') fail('not_found', 'this server does not send mail to an outbox');
  const folder = folderOf(join(config.data_dir, 'outbox'), id);
  const ids = (await unlessMissing(readdir(folder)) ?? [])
    .filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
    .filter((mail) => isUuid(mail) && uuidTime(mail) >= created_at.getTime())
    .sort().reverse().slice(0, maxListed);
  if (to === undefined) {
    const { items, ...rest } = slicePage(ids, page);
    return { ...rest, items: await readMails(folder, items) };
  }
  const address = to.toLowerCase();
  const mails = await readMails(folder, ids);
  return slicePage(mails.filter((mail) => mail.to.toLowerCase() === address), page);
}

async function readMails(folder: string, ids: readonly string[]): Promise<OutboxMail[]> {
  const mails: OutboxMail[] = [];
  for (const id of ids) {
    const text = await unlessMissing(readFile(join(folder, id + suffix), 'utf8'));
    if (text === undefined) continue;
    // As `writeDownMail` has written it.
    const mail: OutboxMail & { created_at: string | Date } = JSON.parse(text);
    mails.push({ ...mail, created_at: new Date(mail.created_at) });
  }
  return mails;
}
