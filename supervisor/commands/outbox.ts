// `bulkhead outbox`: the mails of a workspace, on a server that keeps them in its outbox.
import { setTimeout as pause } from 'node:timers/promises';
import type { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { listMember, textMember } from '../remote/members.ts';
import { workspacePath } from '../remote/place.ts';
import { printable, printJson, printLine, printTable } from '../remote/print.ts';
import { remoteCommand, wholeNumber } from './remote-command.ts';

const intervalMs = 200;

/** Reads the outbox. */
export const outbox = remoteCommand({
  name: 'outbox',
  description: 'List the mails of a workspace, newest first, where mail.transport is outbox.',
  level: 'workspace',
  args: {
    to: { type: 'string', description: 'Only mails to this address' },
    last: { type: 'boolean', description: 'Print the text of the newest mail' },
    wait: { type: 'string', description: 'Wait for a mail, at most so many seconds' },
  },
  run: async ({ client, place, given, json }) => {
    const path = `${workspacePath(place)}/outbox`;
    const isLast = given.has('last');
    const query = { to: given.text('to'), per_page: isLast ? '1' : '200' };
    const mails = await waitForMails(client, { path, query, seconds: wholeNumber(given, 'wait') ?? 0 });
    const [newest] = mails;
    if (!isLast) {
      const columns = [['SENT', 'created_at'], ['TO', 'to'], ['SUBJECT', 'subject']] as const;
      return json ? printJson(mails) : printTable(mails, columns);
    }
    if (newest === undefined) throw new CommandFailed('refused', 'there is no such mail', 'not_found');
    if (json) return printJson(newest);
    for (const line of (textMember(newest, 'text') ?? '').split('\n')) printLine(printable(line));
  },
});

async function waitForMails(
  client: RemoteClient,
  { path, query, seconds }: { path: string; query: Record<string, string | undefined>; seconds: number },
): Promise<readonly unknown[]> {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const mails = listMember((await client.request(path, { query })).body, 'items');
    if (mails.length > 0 || performance.now() >= until) return mails;
    await pause(intervalMs);
  }
}
