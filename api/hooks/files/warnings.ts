// Warnings about an app's hook files: what the type checker says, and, for the log, hooks that nothing calls.
import type { AppDefinition } from '../../../storage/definition.ts';
import { usersId } from '../../../storage/workspace/identities.ts';
import type { Unchecked } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import type { AppHooks } from '../app-hooks.ts';
import { hookFolder, readFolder, toSourceFile } from './folder.ts';
import type { SupervisedRunners } from '../pool/host.ts';
import type { HookLog } from '../logs/log.ts';
import type { FileFault } from '../ports.ts';
import { declareCheckedTypes } from './types.ts';

const maxWarnings = 100;
const maxMessageLength = 2_000;

/** The dependencies of a check. */
export interface TypeCheckDeps {
  deps: Pick<Deps, 'config'>;
  host: Pick<SupervisedRunners, 'check'>;
  log: HookLog;
}

/** The checks of hook files after their loads; each is made once, also when a file is put and its change noticed. */
export class FileChecks {
  readonly #deps: TypeCheckDeps['deps'];
  readonly #host: TypeCheckDeps['host'];
  /** By the faults of a load, which are its own. */
  readonly #checks = new WeakMap<readonly FileFault[], Promise<FileFault[]>>();

  constructor(deps: TypeCheckDeps['deps'], host: TypeCheckDeps['host']) {
    this.#deps = deps;
    this.#host = host;
  }

  /** Type errors in an app's files, which the log has, too, besides hooks that nothing calls. */
  check(hooks: Pick<AppHooks, 'registrations' | 'faults' | 'log'>, app: AppDefinition): Promise<FileFault[]> {
    const known = this.#checks.get(hooks.faults);
    if (known !== undefined) return known;
    const check = this.#check(hooks, app);
    this.#checks.set(hooks.faults, check);
    return check;
  }

  /** Has the log say of files that have changed on disk what the response to a `PUT` would. */
  async checkChanged(
    hooks: AppHooks,
    findApp: (workspace: string, app: string) => Promise<AppDefinition | undefined>,
  ): Promise<void> {
    const app = await findApp(hooks.path.workspace, hooks.path.app);
    if (app?.schema === hooks.app.schema) await this.check(hooks, app);
  }

  async #check(
    hooks: Pick<AppHooks, 'registrations' | 'log'>,
    app: AppDefinition,
  ): Promise<FileFault[]> {
    const { log } = hooks;
    warnOfUncalledHooks(hooks, app);
    if (!this.#deps.config.hooks.type_check) return [];
    const warnings = await checkTypes({ deps: this.#deps, host: this.#host, log }, app);
    for (const { file, message, line, column } of warnings) {
      log.add({ level: 'warn', file, message, fields: { line, column } });
    }
    return warnings;
  }
}

/** The reasons for authors; a fault of the machine is for the operator's log. */
const reasons: Readonly<Record<Unchecked, string>> = {
  late: 'it took too long',
  superseded: 'a newer file took its turn',
  failed: 'the server could not, and its own log says why',
};

/** Type errors in the app's files as they are now. None when that cannot be found out, which the log says then. */
async function checkTypes(
  { deps, host, log }: TypeCheckDeps,
  app: AppDefinition,
): Promise<FileFault[]> {
  const read = await readFolder(hookFolder(deps.config, app));
  const files = read.flatMap(toSourceFile);
  if (!files.some(({ file }) => file.endsWith('.ts'))) return [];
  const types = await declareCheckedTypes(app);
  const result = await host.check({ workspace: app.workspace.id, app: app.id, files, types });
  if ('output' in result) return parseWarnings(result.output);
  log.add({ level: 'warn', message: `the types were not checked: ${reasons[result.unchecked]}` });
  return [];
}

/**
 * Has the log say which hooks never run: those of a collection that the app does not have, for its name has a slip or it is
 * still to be made, and those of the built-in users, whose writes are none of records.
 */
function warnOfUncalledHooks(
  { registrations, log }: Pick<AppHooks, 'registrations' | 'log'>,
  app: AppDefinition,
): void {
  for (const { file, hooks } of registrations?.files ?? []) {
    for (const collection of new Set(hooks.map(({ collection }) => collection))) {
      if (collection === null || app.collections.has(collection)) continue;
      const why = collection === usersId
        ? 'the server writes users itself; a collection of kind auth, of their profiles, has hooks'
        : 'the app has no collection of that name';
      log.add({ level: 'warn', file, message: `no hook of ${JSON.stringify(collection)} runs: ${why}` });
    }
  }
}

/**
 * The errors in what `deno check` wrote: each begins with `TS2322 [ERROR]: message`, perhaps over several lines, shows the
 * line, and ends with `at file:///app/name.ts:2:46`.
 */
export function parseWarnings(output: string): FileFault[] {
  const found: FileFault[] = [];
  for (const block of output.split(/^(?=(?:error: )?TS\d+ \[ERROR\]: )/m)) {
    const [, code, text = ''] = /^(?:error: )?(TS\d+) \[ERROR\]: ([^]*)$/.exec(block) ?? [];
    const place = /^ {4}at file:\/\/\/app\/([^/\n]+):(\d+):(\d+)$/m.exec(text);
    if (code === undefined || place === null) continue;
    const [, file = '', line, column] = place;
    const lines = text.slice(0, place.index).trimEnd().split('\n').map((each) => each.trim());
    // The line of code and the marks below it come last.
    const told = /^[~^]+$/.test(lines.at(-1) ?? '') ? lines.slice(0, -2) : lines;
    const message = [`${code}:`, ...told].join(' ').slice(0, maxMessageLength);
    found.push({ file: decodeName(file), message, line: Number(line), column: Number(column) });
  }
  return found.length > 0 ? found.slice(0, maxWarnings) : parseImportError(output);
}

/** An import from elsewhere ends the check before any type is looked at; `deno check` shows no line of code then. */
function parseImportError(output: string): FileFault[] {
  const place = /^error: .*\n {4}at file:\/\/\/app\/([^/\n]+):(\d+):(\d+)$/m.exec(output);
  if (place === null) return [];
  const [, file = '', line, column] = place;
  const message = 'no types were checked: hook files import each other as "./name.ts", and nothing else';
  return [{ file: decodeName(file), message, line: Number(line), column: Number(column) }];
}

/** As it was before it became part of an address. */
function decodeName(file: string): string {
  try {
    return decodeURIComponent(file);
  } catch {
    return file; // a percent sign of the name's own
  }
}
