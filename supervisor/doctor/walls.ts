// `bulkhead doctor`: how strongly hooks are walled in here, found out by starting one.
import { join } from 'node:path';
import { raiseWalls } from '../hooks/sandbox.ts';
import type { Config } from '../protocol.ts';
import { failed, ok, warning } from './finding.ts';
import type { Finding } from './protocol.ts';

/** Starts a hook process as the server would. Its files go to `folder`. */
export async function checkSandbox({ hooks }: Config, folder: string, path: string): Promise<Finding> {
  const { sandbox: { level, why } } = await raiseWalls({
    ...{ config: hooks, path, platform: process.platform, arch: process.arch },
    folder: join(folder, 'runtime'),
    uid: process.getuid?.() ?? 0,
  });
  const message = `level ${level}: ${why}`;
  if (level === 'os') return ok('sandbox', message);
  if (level === 'none') return failed('sandbox', message, advise(why) ?? 'set hooks.sandbox to auto');
  if (process.platform !== 'linux' || hooks.sandbox === 'deno') return ok('sandbox', message);
  return warning('sandbox', message, advise(why) ?? 'hooks of other people need level os');
}

function advise(why: string): string | undefined {
  const [, name] = /\(package ([\w-]+)\)/.exec(why) ?? [];
  return name === undefined ? undefined : `install ${name} (Debian: apt-get install ${name})`;
}
