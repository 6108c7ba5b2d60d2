// An app admin reads and changes the app's hook files. Every change is audited, and in effect when the response is sent.
import { deleteHookVersion } from '../../../storage/app/hook-versions.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { errorCode } from '../../../storage/sql/error-code.ts';
import { type Page, type PageRequest, slicePage } from '../../../storage/sql/page.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import { type Caller, readActorName } from '../../audit/actor.ts';
import { auditApp } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail, failValidation } from '../../errors.ts';
import { digest } from './file-version.ts';
import { checkFilename } from './filename.ts';
import {
  type HookFile,
  hookFolder,
  listFolder,
  maxFileBytes,
  maxFiles,
  maxFolderBytes,
  readFile,
  removeFromFolder,
  writeFile,
} from './folder.ts';
import type { FileFault, HookLoader, Hooks, LoadResult, RunningFile } from '../ports.ts';
import { reloadInAllProcesses } from './reload.ts';
import { withdrawFromDeleted } from './withdraw.ts';

type ReadDeps = { config: Pick<Config, 'hooks'> };
type ChangeDeps = ReadDeps & Pick<Deps, 'databases' | 'newId' | 'now'> & { hooks: HookLoader };

/** Files by name. */
export async function listHookFiles(
  { hooks }: { hooks: Pick<Hooks, 'files'> },
  app: AppDefinition,
  page: PageRequest,
): Promise<Page<RunningFile>> {
  return slicePage(await hooks.files(app), page);
}

/** One file with its text. Throws `400 validation` for its name, `404 not_found`. */
export async function showHookFile(
  { config }: ReadDeps,
  app: AppDefinition,
  filename: string,
): Promise<HookFile & { source: string }> {
  const file = await readFile(hookFolder(config, app), checkFilename(filename)) ?? failNoFile(filename);
  if ('fault' in file) fail('conflict', `hook file "${filename}" ${file.fault}`);
  return file;
}

/** The new text of a file, and the caller. */
export interface HookFileChange {
  filename: string;
  source: string;
  by: Caller;
}

/** A file that was put, and what became of it. */
export interface PutHookFileResult {
  file: HookFile;
  reload: LoadResult;
  /** The type checker's warnings about the app's files. */
  warnings: FileFault[];
}

/**
 * Writes a file and loads the app's files again. Throws `400 validation` for its name, its size or too many files, `404` for
 * an app that was deleted meanwhile, `409 conflict` where the hooks directory has a directory of its name, or belongs to
 * another user than the server's.
 */
export async function putHookFile(
  deps: ChangeDeps,
  app: AppDefinition,
  { filename, source, by }: HookFileChange,
): Promise<PutHookFileResult> {
  const folder = hookFolder(deps.config, app);
  checkFilename(filename);
  const print = fingerprint(source);
  refuseTooMuch(await listFolder(folder), filename, print.size);
  const details = { ...print, from: await currentFingerprint(folder, filename) };
  let isWritten = false;
  try {
    await audited(deps, app, { action: 'hook_put', filename, details, by }, async () => {
      isWritten = await writeFile(folder, filename, source);
      if (!isWritten) fail('conflict', `a directory is called "${filename}"`);
    });
  } finally {
    if (isWritten) await withdrawFromDeleted(deps, app, { filename, source });
  }
  const reload = await reloadInAllProcesses(deps, app);
  const file = await readFile(folder, filename) ?? failNoFile(filename);
  // The code is in effect already.
  const warnings = await deps.hooks.check(app);
  return { file: { filename, size: print.size, updated_at: file.updated_at }, reload, warnings };
}

/**
 * Removes a file and loads the app's files again. Throws `400 validation` for its name, `404 not_found`, `409 conflict` where
 * the folder belongs to another user than the server's.
 */
export async function removeHookFile(
  deps: ChangeDeps,
  app: AppDefinition,
  { filename, by }: { filename: string; by: Caller },
): Promise<LoadResult> {
  const folder = hookFolder(deps.config, app);
  checkFilename(filename);
  const details = { from: await currentFingerprint(folder, filename) };
  await audited(deps, app, { action: 'hook_delete', filename, details, by }, async (sql) => {
    if (!await removeFromFolder(folder, filename)) failNoFile(filename);
    // What loaded last of it must not run when a file of this name comes again.
    await deleteHookVersion(sql, app.schema, filename);
  });
  return await reloadInAllProcesses(deps, app);
}

/** Loads the app's files again, as they are on disk now. */
export async function reloadHooks(deps: ChangeDeps, app: AppDefinition, by: Caller): Promise<LoadResult> {
  await audited(deps, app, { action: 'hook_reload', filename: app.id, details: {}, by }, async () => {});
  return await reloadInAllProcesses(deps, app);
}

/** A digest of a text, for the audit log. */
function fingerprint(source: string): { size: number; sha256: string } {
  return { size: Buffer.byteLength(source), sha256: digest(source) };
}

/** Null where there was no file that can be read. */
async function currentFingerprint(
  folder: string,
  filename: string,
): Promise<ReturnType<typeof fingerprint> | null> {
  const file = await readFile(folder, filename);
  return file === undefined || 'fault' in file ? null : fingerprint(file.source);
}

function refuseTooMuch(files: readonly HookFile[], filename: string, size: number): void {
  const others = files.filter((file) => file.filename !== filename);
  const total = others.reduce((sum, file) => sum + file.size, size);
  const refuse = (field: string, reason: string) => failValidation([{ field, reason }]);
  if (size > maxFileBytes) refuse('source', `must have at most ${maxFileBytes} bytes`);
  if (others.length >= maxFiles) refuse('filename', `the app has ${maxFiles} files, the most it can have`);
  if (total > maxFolderBytes) {
    refuse('source', `the app's files must have at most ${maxFolderBytes} bytes together`);
  }
}

/** The entry is written first, and stays only when the change was made. */
async function audited(
  deps: ChangeDeps,
  app: AppDefinition,
  change: { action: string; filename: string; details: Record<string, unknown>; by: Caller },
  work: (sql: Sql) => Promise<void>,
): Promise<void> {
  const { action, filename: target, details, by } = change;
  const actor = await readActorName(deps, by.principal);
  await deps.databases.app(app.workspace.database, app.schema).transaction(async (sql) => {
    await auditApp(sql, deps, { actor, action, target, details, origin: by.origin });
    await work(sql).catch(failUnlessPermitted);
  });
}

/** An operator may have made the folder as another user than the server's. */
function failUnlessPermitted(error: unknown): never {
  const code = errorCode(error);
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) throw error;
  fail(
    'conflict',
    `the server may not write in the app's folder of hook files (${code}): it must belong to the server's user`,
  );
}

function failNoFile(filename: string): never {
  fail('not_found', `hook file "${filename}" does not exist`);
}
