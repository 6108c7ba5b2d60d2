// The latest lines of an app's hooks: kept in memory, and sent to those who follow the log.
import { type Page, type PageRequest, slicePage } from '../../../storage/sql/page.ts';
import type { LogLevel } from '../../../hook-runner/protocol.ts';
import type { Json } from '../../../hook-runner/calls.ts';
import type { Fault } from '../../../hook-runner/registrations.ts';
import { fail } from '../../errors.ts';

/** One line. All its text is the tenant's. */
export interface LogEntry {
  /** UTC, to the millisecond: such texts sort as their times do. */
  ts: string;
  level: LogLevel;
  message: string;
  file: string | null;
  request_id: string | null;
  fields: { readonly [name: string]: Json } | null;
}

/** A line of the log. File, request and fields are left out where a line has none. */
export type LogLine =
  & Pick<LogEntry, 'level' | 'message'>
  & Partial<Pick<LogEntry, 'file' | 'request_id' | 'fields'>>;

const maxBytes = 262_144;
const maxEntries = 1_000;
const maxBytesPerMinute = 1_048_576;
const minuteMs = 60_000;
const maxFollowers = 32;

/** A kept line, as JSON: as objects, lines of many small ones would take twenty times as much. */
interface KeptLine {
  text: string;
  bytes: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** The log of one app. */
export class HookLog {
  readonly #now: () => Date;
  readonly #print: ((entry: LogEntry) => void) | undefined;
  readonly #onKept: () => void;
  readonly #entries: KeptLine[] = [];
  #position = 0;
  readonly #followers = new Set<(entry: LogEntry) => void>();
  #bytes = 0;
  #minuteBegan = 0;
  #minuteBytes = 0;

  /**
   * `print` gets each line that is kept, and those that are for a terminal only. `onKept` is called after each line that is
   * kept.
   */
  constructor(now: () => Date, print?: (entry: LogEntry) => void, onKept: () => void = () => undefined) {
    this.#now = now;
    this.#print = print;
    this.#onKept = onKept;
  }

  /** The size of the kept lines. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The time of the oldest kept line, in milliseconds since 1970; infinite where there is none. */
  get oldestAt(): number {
    return this.#entries[0]?.at ?? Infinity;
  }

  /** Drops the oldest line, and returns its bytes. */
  dropOldest(): number {
    const bytes = this.#entries.shift()?.bytes ?? 0;
    this.#bytes -= bytes;
    return bytes;
  }

  /** Prints a line at the terminal, and keeps it nowhere. */
  print(message: string): void {
    const entry = { ts: this.#now().toISOString(), level: 'info', message } as const;
    this.#print?.({ ...entry, file: null, request_id: null, fields: null });
  }

  /** Adds a line; what comes faster than 1 MiB a minute is lost, and one line says so. */
  add({ level, message, file = null, request_id = null, fields = null }: LogLine): void {
    const now = this.#now();
    const entry: LogEntry = { ts: now.toISOString(), level, message, file, request_id, fields };
    const text = JSON.stringify(entry);
    const bytes = Buffer.byteLength(text);
    const time = now.getTime();
    // A clock that is set back must not make the minute longer.
    if (Math.abs(time - this.#minuteBegan) >= minuteMs) {
      this.#minuteBegan = time;
      this.#minuteBytes = 0;
    }
    const before = this.#minuteBytes;
    this.#minuteBytes += bytes;
    if (before > maxBytesPerMinute) return;
    if (this.#minuteBytes <= maxBytesPerMinute) return this.#keep(entry, { text, bytes, at: time });
    const notice = 'more than 1 MiB of log in a minute: what follows in this minute is lost';
    const nowhere = { file: null, request_id: null, fields: null };
    const last: LogEntry = { ts: entry.ts, level: 'warn', message: notice, ...nowhere };
    this.#keep(last, { text: JSON.stringify(last), bytes: 200, at: time });
  }

  /** Adds what went wrong in the app's code. */
  addFaults(
    faults: readonly (Omit<Fault, 'stack'> & Partial<Pick<Fault, 'stack'>>)[],
    requestId: string | null,
  ): void {
    for (const { message, file, ...position } of faults) {
      this.add({ level: 'error', message, file, request_id: requestId, fields: position });
    }
  }

  /** Adds which files run as they were. */
  addOlder(files: readonly { file: string; loadedAt: Date }[]): void {
    for (const { file, loadedAt } of files) {
      const message = `it runs on as it was when it loaded first, at ${loadedAt.toISOString()}`;
      this.add({ level: 'warn', file, message });
    }
  }

  /** The kept lines, oldest first. */
  get entries(): LogEntry[] {
    return this.#entries.map(parseEntry);
  }

  /** How many lines were ever kept. */
  get place(): number {
    return this.#position;
  }

  /** The kept lines after a position, oldest first. */
  after(place: number): LogEntry[] {
    const fresh = Math.min(this.#position - place, this.#entries.length);
    return fresh <= 0 ? [] : this.#entries.slice(-fresh).map(parseEntry);
  }

  /** Throws `429 too_many_requests` where as many follow as may: what each has not read yet is held for it. */
  requireFollowerSlot(): void {
    if (this.#followers.size < maxFollowers) return;
    const most = `${maxFollowers} readers follow the log of this app already, which is the most`;
    fail('too_many_requests', most, [['Retry-After', '10']]);
  }

  /** Calls back for each line from now on, until what is returned is called. */
  follow(follower: (entry: LogEntry) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  #keep(entry: LogEntry, kept: KeptLine): void {
    this.#entries.push(kept);
    this.#position++;
    this.#bytes += kept.bytes;
    while (this.#bytes > maxBytes || this.#entries.length > maxEntries) this.dropOldest();
    for (const follower of this.#followers) follower(entry);
    this.#print?.(entry);
    this.#onKept();
  }
}

function parseEntry({ text }: { text: string }): LogEntry {
  return JSON.parse(text);
}

/** A page of what is kept, newest first. */
export function pageOfLog(entries: readonly LogEntry[], page: PageRequest): Page<LogEntry> {
  return slicePage(entries.toReversed(), page);
}
