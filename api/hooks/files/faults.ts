// The errors of an app's hooks, as responses show them.
import type { SourceFile } from '../../../hook-runner/protocol.ts';
import type { Fault } from '../../../hook-runner/registrations.ts';
import { ApiError } from '../../errors.ts';
import type { HookFileContent } from './folder.ts';
import { LoadFailed } from '../pool/load.ts';
import { RunnerRefused } from '../pool/host.ts';
import type { FileFault } from '../ports.ts';

/** The fault of a file that could not be read. */
export function readFaults(file: HookFileContent): FileFault[] {
  return 'fault' in file ? [{ file: file.filename, message: file.fault, line: null, column: null }] : [];
}

/** A fault of an author's code, as responses show it. */
export function toFileFault({ file, message, line, column }: Fault): FileFault {
  return { file: file ?? '', message, line, column };
}

/** The faults of files none of which could be loaded: of those that were under way, else of all together. */
export function loadFaults(error: unknown, message: string, files: readonly SourceFile[]): FileFault[] {
  const [only] = files.length === 1 ? files : [];
  const underWay = error instanceof LoadFailed ? error.files : [];
  const named = underWay.length > 0 ? underWay : [only?.file ?? ''];
  return named.map((file) => (
    { file, message: `the hooks could not be loaded: ${message}`, line: null, column: null }
  ));
}

/** The error of a request whose hooks cannot run. */
export function toRefusal(error: unknown): ApiError {
  if (error instanceof LoadFailed) return new ApiError('hook_error', error.message);
  if (!(error instanceof RunnerRefused)) throw error;
  const seconds = String(Math.max(1, Math.ceil(error.retryMs / 1_000)));
  const code = error.reason === 'full' ? 'hook_busy' : 'hook_unavailable';
  return new ApiError(code, error.message, [['Retry-After', seconds]]);
}

/** A state that passes by itself takes a while: places are taken again, and a machine that is too busy stays so. */
const minRetryMs = 5_000;

/** Milliseconds after which to load code again that failed to load by no fault of its own; undefined where it is no use. */
export function retryDelayMs(error: unknown): number | undefined {
  if (error instanceof LoadFailed) return error.isOfCode ? undefined : minRetryMs;
  if (!(error instanceof RunnerRefused) || error.reason === 'no_sandbox') return undefined;
  return Math.max(minRetryMs, error.retryMs);
}
