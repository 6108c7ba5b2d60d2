// The outbox of the shared server, as the people read it whom its mail is for.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject, vi } from 'vitest';

/** Every mail to an address, oldest first, as raw text. Waits until there are `count`. */
export async function mailsTo(address: string, count = 1): Promise<string[]> {
  return await vi.waitFor(async () => {
    const mails = (await outbox()).filter((mail) => mail.includes(`\nTo: ${address}\n`));
    if (mails.length < count) throw new Error(`${mails.length} of ${count} mails to ${address}`);
    return mails;
  }, { timeout: 10_000, interval: 20 });
}

/** The token or code in the newest of `count` mails to an address: what stands alone on a line. */
export async function secretFor(address: string, count = 1): Promise<string> {
  const newest = (await mailsTo(address, count)).at(-1) ?? '';
  const secret = secretIn(newest);
  if (secret === undefined) throw new Error(`no token or code in\n${newest}`);
  return secret;
}

/** The token or code that stands alone on a line of a mail. */
export function secretIn(mail: string): string | undefined {
  return /^(?:[\w-]{43}|\d{6,10})\r?$/m.exec(mail)?.[0].trim();
}

/** Every mail that was ever sent, in the order of the files' names. */
export async function outbox(): Promise<string[]> {
  const folder = join(inject('server').dataDir, 'outbox');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort();
  return await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}
