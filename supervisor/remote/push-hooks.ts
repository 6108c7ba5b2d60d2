// Sends hook files to an app.
import type { RemoteClient } from './client.ts';
import type { HookFile } from './hook-folder.ts';
import { listMember, memberOf, textMember } from './members.ts';
import { printable } from './print.ts';

/** What became of the files. */
export interface PushedHooks {
  pushed: string[];
  /** The faults of the app's files after the last one, by what is to be shown of them. */
  faults: ReadonlyMap<string, unknown>;
}

/** Sends those files that the server has otherwise. `app` is the path of the app. Throws `CommandFailed`. */
export async function pushHookFiles(
  client: RemoteClient,
  { app, files, onPushed }: { app: string; files: readonly HookFile[]; onPushed: (filename: string) => void },
): Promise<PushedHooks> {
  const pushed: string[] = [];
  let faults = new Map<string, unknown>();
  for (const { filename, source } of files) {
    const at = `${app}/hooks/${encodeURIComponent(filename)}`;
    const there = await client.request(at, { accept: [404] });
    if (textMember(there.body, 'source') === source) continue;
    const { body } = await client.request(at, { method: 'PUT', body: { source } });
    const errors = listMember(memberOf(body, 'reload'), 'errors');
    faults = new Map(errors.map((error) => [describeFault(error), error]));
    pushed.push(filename);
    onPushed(filename);
  }
  return { pushed, faults };
}

/** A fault as `file:line:column: message`. */
export function describeFault(error: unknown): string {
  const place = ['file', 'line', 'column'].map((name) => memberOf(error, name))
    .filter((part) => typeof part === 'string' || typeof part === 'number').join(':');
  return printable(`${place}: ${textMember(error, 'message') ?? ''}`);
}
