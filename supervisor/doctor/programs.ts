// `bulkhead doctor`: the programs that the server runs on.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../errors.ts';
import { findDeno } from '../hooks/runner-files.ts';
import { findPostgresBinaries } from '../postgres/binaries.ts';
import { clusterFolder } from '../postgres/cluster.ts';
import { linkLibraries } from '../postgres/library-links.ts';
import { runToEnd } from '../run-to-end.ts';
import { failed, ok } from './finding.ts';
import type { Finding } from './protocol.ts';

const oldestNode = 24;
const installAgain = 'run npm install in the folder of this program, without --omit=optional';

/** Node, under which this runs. */
export function checkNode(version = process.versions.node): Finding {
  const message = `Node ${version}, ${process.execPath}`;
  return Number.parseInt(version, 10) >= oldestNode
    ? ok('node', message)
    : failed('node', message, `install Node ${oldestNode} or newer`);
}

/** Deno, in which hooks run. */
export async function checkDeno(): Promise<Finding> {
  try {
    const file = await findDeno(process.platform, process.arch);
    const version = await versionOf(file, /^deno (\S+)/, {});
    const wanted = await pinnedDeno();
    return version === wanted ? ok('deno', `Deno ${version}, ${file}`) : failed(
      'deno',
      `Deno ${version} is installed, and hooks need exactly ${wanted}`,
      installAgain,
    );
  } catch (error) {
    return failed('deno', messageOf(error), installAgain);
  }
}

async function pinnedDeno(): Promise<string> {
  const file = fileURLToPath(import.meta.resolve('deno/package.json'));
  const { version }: { version?: unknown } = JSON.parse(await readFile(file, 'utf8'));
  return String(version);
}

/** The embedded PostgreSQL, and whether it is one that can read the data. Links go to `folder`. */
export async function checkPostgres(dataDir: string, folder: string): Promise<Finding> {
  try {
    const { home, postgres } = findPostgresBinaries(process.platform, process.arch);
    const links = { aside: join(folder, 'libraries'), platform: process.platform };
    const version = await versionOf(postgres, /PostgreSQL\) (\S+)/, await linkLibraries(home, links));
    const made = (await readFile(join(clusterFolder(dataDir), 'PG_VERSION'), 'utf8').catch(() => '')).trim();
    const major = String(Number.parseInt(version, 10));
    return made === '' || made === major ? ok('postgresql', `PostgreSQL ${version}, embedded`) : failed(
      'postgresql',
      `PostgreSQL ${version} cannot read data that PostgreSQL ${made} has written in ${dataDir}`,
      `install the release of Bulkhead that comes with PostgreSQL ${made}`,
    );
  } catch (error) {
    return failed('postgresql', messageOf(error), `${installAgain}, or set database.url`);
  }
}

/** What a program says its version is. Throws with its own words when it does not run. */
async function versionOf(file: string, pattern: RegExp, env: Record<string, string>): Promise<string> {
  const { code, signal, lines } = await runToEnd({
    file,
    args: ['--version'],
    env: { NO_COLOR: '1', ...env },
    orphanSignal: 'KILL',
  });
  const version = lines.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
  if (code !== 0 || version === undefined) {
    throw new Error(`${file} does not run: ${lines.at(-1) ?? `code ${code}, signal ${signal}`}`);
  }
  return version;
}
