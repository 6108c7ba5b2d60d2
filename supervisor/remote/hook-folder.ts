// The hook files of a project, in the folder `bulkhead/hooks`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { CommandFailed } from './failure.ts';

/** A hook file, as the server stores it. */
export interface HookFile {
  filename: string;
  source: string;
}

/** The folder of hook files in a project. */
export const hookFolder = join('bulkhead', 'hooks');

/** Reads the hook files of a folder, in the order of their names. Type declarations are not hooks. Throws `CommandFailed`. */
export function readHookFiles(folder: string): HookFile[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^[A-Za-z0-9_][^/\\]*\.[jt]s$/.test(name) && !name.endsWith('.d.ts'))
      .sort()
      .map((filename) => ({ filename, source: readFileSync(join(folder, filename), 'utf8') }));
  } catch (error) {
    throw new CommandFailed('refused', `${folder} cannot be read: ${messageOf(error)}`);
  }
}
