// Sends lines to the app's log, from `console.*`, `$app.log` and uncaught errors.
import type { Json } from './calls.ts';
import type { ApiChannel } from './channel.ts';
import { describeThrown, stripRunnerFrames } from './faults.ts';
import type { Invocations } from './invocations.ts';
import type { LogFrame, LogLevel } from './protocol.ts';
import { serializeJson } from './json-text.ts';
import { encodeUtf8, parseJson, stringifyJson, toText, withoutPrototype } from './untampered.ts';

/** While more bytes than this wait to be sent, lines are counted instead of sent. */
const maxWaitingBytes = 256 * 1024;
/** The bytes of a line's frame besides its message and fields. */
const frameOverhead = 512;

/** A line before its invocation is known. */
interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: unknown;
  /** The file that wrote it, when no invocation is under way. */
  readonly file?: string | null;
}

/** Sends log lines, and reports how many were dropped. */
export class LogWriter {
  readonly #channel: ApiChannel;
  readonly #invocations: Invocations;
  readonly #maxFrameBytes: number;
  #dropped = 0;

  /** `maxFrameBytes` limits the frame of one line. */
  constructor(channel: ApiChannel, invocations: Invocations, maxFrameBytes: number) {
    this.#channel = channel;
    this.#invocations = invocations;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Writes one line on behalf of the current invocation. */
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

  /** Writes an uncaught error. */
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
    const maxBytes = this.#maxFrameBytes / 2;
    // Longer fields would leave no space for the message.
    if (text.length > maxBytes || encodeUtf8(text).length > maxBytes) {
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
    const maxBytes = this.#maxFrameBytes - frameOverhead - jsonBytes(line.fields);
    while (jsonBytes(message) > maxBytes) message = `${message.slice(0, Math.floor(message.length / 2))}…`;
    return { ...line, message: message.toWellFormed() };
  }
}

function jsonBytes(value: unknown): number {
  return encodeUtf8(stringifyJson(value) ?? '').length;
}

function isMembers(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Serializes whatever an author passes; an object that says why where JSON cannot represent it. */
function safeJson(value: unknown): string {
  try {
    return serializeJson(value, 'it', { replace: (_, member) => toLoggable(member) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : toText(error);
    return `{"unreadable":${stringifyJson(reason.slice(0, frameOverhead)) ?? '""'}}`;
  }
}

/** A member as the log shows it. JSON would show nothing of an error. */
function toLoggable(member: unknown): unknown {
  if (typeof member === 'string') return stripRunnerFrames(member).toWellFormed();
  if (typeof member === 'bigint') return toText(member);
  if (!(member instanceof Error)) return member;
  const { message, file, line, column, stack } = describeThrown(member, null);
  return { ...member, message, file, line, column, stack };
}
