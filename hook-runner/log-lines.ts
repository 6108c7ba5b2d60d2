// Lines for the app's log: `console.*`, `$app.log`, and errors that nobody caught.
import type { Json } from './calls.ts';
import type { Channel } from './channel.ts';
import { faultOf, withoutRunner } from './faults.ts';
import type { Invocations } from './invocations.ts';
import type { Log, LogLevel } from './protocol.ts';
import { jsonText } from './json-text.ts';
import { asText, bare, parseJson, stringifyJson, utf8 } from './untampered.ts';

/** While the API has more than this to read, lines are counted instead of sent. */
const mostWaiting = 256 * 1024;
/** What the frame of a line takes besides its message and fields. */
const frameOverhead = 512;

/** A line before it is known whose it is. */
interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: unknown;
  /** Whose line it is where no invocation under way says so. */
  readonly file?: string | null;
}

/** Sends lines, and says how many could not be. */
export class LogLines {
  readonly #channel: Channel;
  readonly #invocations: Invocations;
  readonly #longest: number;
  #dropped = 0;

  /** `longest`: bytes of a log frame. */
  constructor(channel: Channel, invocations: Invocations, longest: number) {
    this.#channel = channel;
    this.#invocations = invocations;
    this.#longest = longest;
  }

  /** One line, as the invocation under way. */
  write({ level, message, fields, file = null }: Line): void {
    if (this.#channel.waiting > mostWaiting) {
      this.#dropped++;
      return;
    }
    const invocation = this.#invocations.current;
    const line: Log = {
      type: 'log',
      parent: invocation?.id ?? 0,
      level,
      message: withoutRunner(message),
      file: invocation?.file ?? file,
      fields: this.#fitting(fields),
    };
    this.#channel.send(this.#cut(line));
  }

  /** An error that no code caught. */
  uncaught(thrown: unknown, what: string): void {
    const { message, file, line, column, stack } = faultOf(thrown, this.#invocations.current?.file ?? null);
    const place = file === null ? '' : ` at ${file}${line === null ? '' : `:${line}:${column ?? 1}`}`;
    this.write({
      level: 'error',
      message: `${what}: ${message}${place}`,
      fields: stack === null ? null : { stack },
      file,
    });
  }

  #fitting(fields: unknown): Log['fields'] {
    if (fields === undefined || fields === null) return null;
    const text = safeJson(fields);
    const most = this.#longest / 2;
    // In bytes: more would leave the message no room, and it is never cut to less than its end.
    if (text.length > most || utf8(text).length > most) return bare({ omitted: `${text.length} characters` });
    const parsed = parseJson(text) as Json;
    return isMembers(parsed) ? parsed : bare({ value: parsed });
  }

  #cut(line: Log): Log {
    let { message } = line;
    if (this.#dropped > 0) {
      message = `(${this.#dropped} lines before this one were dropped) ${message}`;
      this.#dropped = 0;
    }
    const room = this.#longest - frameOverhead - bytesOf(line.fields);
    while (bytesOf(message) > room) message = `${message.slice(0, Math.floor(message.length / 2))}…`;
    return { ...line, message: message.toWellFormed() };
  }
}

function bytesOf(value: unknown): number {
  return utf8(stringifyJson(value) ?? '').length;
}

function isMembers(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON of whatever an author passes; a text about it where there is none. */
function safeJson(value: unknown): string {
  try {
    return jsonText(value, 'it', { replace: (_, member) => shown(member) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : asText(error);
    return `{"unreadable":${stringifyJson(reason.slice(0, frameOverhead)) ?? '""'}}`;
  }
}

/** A member as the log shows it. Of an error JSON would show nothing. */
function shown(member: unknown): unknown {
  if (typeof member === 'string') return withoutRunner(member).toWellFormed();
  if (typeof member === 'bigint') return asText(member);
  if (!(member instanceof Error)) return member;
  const { message, file, line, column, stack } = faultOf(member, null);
  return { ...member, message, file, line, column, stack };
}
