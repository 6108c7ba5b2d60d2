// Prints what the hooks of apps log at the terminal, for those who write hooks and run the server themselves
// (`log.format=pretty`). The text is that of tenants: it is cut, escaped, and printed at a limited rate.
import type { Deps } from '../../deps.ts';
import { LruCache } from '../../process/lru-cache.ts';
import { type Bucket, type BucketLimits, tokensAt } from '../../process/token-bucket.ts';
import type { LoadResult } from '../ports.ts';
import type { LoadCause } from '../pool/load-queue.ts';
import type { HookLog, LogEntry } from './log.ts';

/** The app that a line is of, as URLs name it. */
export interface LinePlace {
  readonly workspace: string;
  readonly app: string;
}

/** Prints a line of an app's log. */
export type PrintLine = (place: LinePlace, entry: LogEntry) => void;

/** Of one workspace. What comes faster is in the app's log alone. */
const lineLimits: BucketLimits = { burst: 200, perSecond: 20 };
/** Of workspaces whose rate is known; each takes some hundred bytes. */
const maxWorkspaces = 10_000;
const maxTextLength = 2_000;
const maxFileLength = 200;

/** Makes the printer; undefined where the log is for machines, which would take a tenant's lines for the server's own. */
export function terminalPrinter(
  { config, observe, spentShares, now }: Pick<Deps, 'config' | 'observe' | 'spentShares' | 'now'>,
): PrintLine | undefined {
  if (config.log.format !== 'pretty') return undefined;
  const buckets = new LruCache<Bucket>(maxWorkspaces);
  return ({ workspace, app }, entry) => {
    const at = now().getTime();
    const tokens = tokensAt(at, buckets.get(workspace) ?? { tokens: lineLimits.burst, at }, lineLimits);
    buckets.set(workspace, { tokens: tokens < 1 ? tokens : tokens - 1, at });
    if (tokens < 1) return spentShares.note({ share: 'lines of hooks in the log', workspace });
    const { level, request_id } = entry;
    observe({ type: 'hook_log', level, app: `${workspace}/${app}`, text: textOf(entry), request_id });
  };
}

/** A line as a person reads it: `orders.ts:2:11 TypeError: …`. */
function textOf({ file, message, fields }: LogEntry): string {
  const { line, column, stack: _stack, ...others } = fields ?? {};
  // The fields of a fault are its place.
  const isFault = line !== undefined && column !== undefined;
  const place = isFault && line !== null ? `:${Number(line)}:${Number(column)}` : '';
  const rest = isFault ? others : fields ?? {};
  const members = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  const start = file === null || file === '' ? '' : `${file.slice(0, maxFileLength)}${place} `;
  return cut(`${start}${message}${members}`);
}

function cut(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}… (${text.length} characters)` : text;
}

/** Logs what is wrong with the files after a load; on the terminal, the load as well. */
export function logLoad(log: HookLog, cause: LoadCause, { loaded, errors }: LoadResult): void {
  const files = loaded.length === 0 ? 'no files' : loaded.join(', ');
  const what = cause === 'needed' ? 'loaded' : 'reloaded';
  log.print(errors.length === 0 ? `${what}: ${files}` : `${what} with errors, in effect: ${files}`);
  log.addFaults(errors, null);
}
