// Lines for the app's log: `console.*`, `$app.log`, and errors that nobody caught.
import type { Json } from './calls.ts';
import type { ApiChannel } from './channel.ts';
import { describeThrown, stripRunnerFrames } from './faults.ts';
import type { Invocations } from './invocations.ts';
import type { LogFrame, LogLevel } from './protocol.ts';
import { serializeJson } from './json-text.ts';
import { encodeUtf8, parseJson, stringifyJson, toText, withoutPrototype } from './untampered.ts';

/** While the API has more than this to read, lines are counted instead of sent. */
const maxWaitingBytes = 256 * 1024;
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
export class LogWriter {
  readonly #channel: ApiChannel;
  readonly #invocations: Invocations;
  readonly #maxFrameBytes: number;
  #dropped = 0;

  /** `longest`: bytes of a log frame. */
  constructor(channel: ApiChannel, invocations: Invocations, longest: number) {
    this.#channel = channel;
    this.#invocations = invocations;
    this.#maxFrameBytes = longest;
  }

  /** One line, as the invocation under way. */
  write({ level, message, fields, file = null }: Line): void {
    if (this.#channel.waiting > maxWaitingBytes) {
      this.#dropped++;
      return;
    }
    const invocation = this.#invocations.current;
    const line: LogFrame = {
      type: 'log',
      parent: invocation?.id ?? 0,
      level,
      message: stripRunnerFrames(message),
      file: invocation?.file ?? file,
      fields: this.#fitFields(fields),
    };
    this.#channel.send(this.#truncate(line));
  }

  /** An error that no code caught. */
  uncaught(thrown: unknown, what: string): void {
    const { message, file, line, column, stack } = describeThrown(
      thrown,
      this.#invocations.current?.file ?? null,
    );
    const place = file === null ? '' : ` at ${file}${line === null ? '' : `:${line}:${column ?? 1}`}`;
    this.write({
      level: 'error',
      message: `${what}: ${message}${place}`,
      fields: stack === null ? null : { stack },
      file,
    });
  }

  #fitFields(fields: unknown): LogFrame['fields'] {
    if (fields === undefined || fields === null) return null;
    const text = safeJson(fields);
    const most = this.#maxFrameBytes / 2;
    // In bytes: more would leave the message no room, and it is never cut to less than its end.
    if (text.length > most || encodeUtf8(text).length > most) {
      return withoutPrototype({ omitted: `${text.length} characters` });
    }
    const parsed = parseJson(text) as Json;
    return isMembers(parsed) ? parsed : withoutPrototype({ value: parsed });
  }

  #truncate(line: LogFrame): LogFrame {
    let { message } = line;
    if (this.#dropped > 0) {
      message = `(${this.#dropped} lines before this one were dropped) ${message}`;
      this.#dropped = 0;
    }
    const room = this.#maxFrameBytes - frameOverhead - jsonBytes(line.fields);
    while (jsonBytes(message) > room) message = `${message.slice(0, Math.floor(message.length / 2))}…`;
    return { ...line, message: message.toWellFormed() };
  }
}

function jsonBytes(value: unknown): number {
  return encodeUtf8(stringifyJson(value) ?? '').length;
}

function isMembers(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON of whatever an author passes; a text about it where there is none. */
function safeJson(value: unknown): string {
  try {
    return serializeJson(value, 'it', { replace: (_, member) => toLoggable(member) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : toText(error);
    return `{"unreadable":${stringifyJson(reason.slice(0, frameOverhead)) ?? '""'}}`;
  }
}

/** A member as the log shows it. Of an error JSON would show nothing. */
function toLoggable(member: unknown): unknown {
  if (typeof member === 'string') return stripRunnerFrames(member).toWellFormed();
  if (typeof member === 'bigint') return toText(member);
  if (!(member instanceof Error)) return member;
  const { message, file, line, column, stack } = describeThrown(member, null);
  return { ...member, message, file, line, column, stack };
}
