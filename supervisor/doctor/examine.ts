// `bulkhead doctor`: all checks, in the order in which they are shown. They run at the same time, and change nothing.
import { statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ResolvedConfig, searchPath } from '../config.ts';
import { isDataDirInUse } from '../data-dir.ts';
import { failed, ok, warning } from './finding.ts';
import { checkCluster, checkDisk, checkFolder, checkMasterKey } from './places.ts';
import { checkPort } from './port.ts';
import { checkDeno, checkNode, checkPostgres } from './programs.ts';
import type { Finding } from './protocol.ts';
import { checkServices } from './services.ts';
import { checkSandbox } from './walls.ts';

/** Checks what a server of this configuration needs. Without one, what `problem` says is wrong with it. */
export async function* examine(
  resolved: ResolvedConfig | { problem: string },
): AsyncGenerator<Finding> {
  yield checkNode();
  if ('problem' in resolved) {
    yield await checkDeno();
    yield failed('configuration', resolved.problem, 'bulkhead config prints where each value comes from');
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-doctor-'));
  // Hook processes have users of their own, who must get through.
  await chmod(folder, 0o711);
  try {
    const running = start(resolved, folder);
    for (const findings of running) findings.catch(() => 'awaited below');
    for (const findings of running) {
      for (const finding of [await findings].flat()) if (finding !== undefined) yield finding;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Findings = Promise<Finding | undefined | readonly (Finding | undefined)[]>;

function start(resolved: ResolvedConfig, folder: string): Findings[] {
  const { config } = resolved;
  const serving = isDataDirInUse(config.data_dir);
  const key = checkMasterKey(config);
  return [
    checkDeno(),
    Promise.resolve(checkConfiguration(resolved)),
    checkFolder('data_dir', config.data_dir),
    checkFolder('hooks.dir', config.hooks.dir),
    key.then(({ key: _, ...finding }) => finding),
    checkDisk(config),
    config.database.url === ''
      ? checkCluster(config).then((finding) => finding ?? checkPostgres(config.data_dir, folder))
      : Promise.resolve(undefined),
    checkPort(config, serving),
    checkSandbox(config, folder, searchPath()),
    key.then((found) => checkServices(config, { key: found.key, isServing: serving })),
  ];
}

/** Others must not read the secrets that are in the file. */
function checkConfiguration({ effective }: ResolvedConfig): Finding {
  const entries = [...effective].filter(([, { source }]) => /bulkhead\.config\.\w+$/.test(source));
  const file = entries[0]?.[1].source;
  if (file === undefined) return ok('configuration', 'no file, so defaults, environment and flags');
  const secret = entries.find(([, entry]) => entry.secret);
  if (secret === undefined || (statSync(file).mode & 0o004) === 0) return ok('configuration', file);
  return warning(
    'configuration',
    `${file} holds ${secret[0]}, and every user of this machine may read it`,
    `run chmod 600 ${file}`,
  );
}
