// Describes errors of an author's code with file, line and column in the author's own text.
import { fileNameAt, urlPrefix } from './addresses.ts';
import type { Fault } from './registrations.ts';
import { safeMap, stringifyJson, toText, withoutPrototype } from './untampered.ts';

const maxMessageLength = 2_000;
const maxStackLength = 4_000;
/** Limits the chain of causes, as an error may be its own cause. */
const maxCauses = 4;
/** The text of a plain object without a text of its own. */
const noText = '[object Object]';

const positionPattern = /file:\/\/\/hooks\/([^\n]+?\.[jt]s):(\d+):(\d+)/;
/** The position at the end of a syntax error's message, where V8 puts it. */
const positionAtEndPattern = / at file:\/\/\/hooks\/[^\n]+?\.[jt]s:\d+:\d+$/;

/** The names of the app's files. Deno shows URLs decoded and V8 as they are, so a text alone does not tell a name. */
const knownFiles = safeMap<string, true>();

/** Registers the names of the app's files, so that positions in them are found. */
export function registerFileNames(names: readonly string[]): void {
  for (const name of names) knownFiles.set(name, true);
}

/** A position in a file of the app. Lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/**
 * Describes a thrown value. Never throws, even if getters of the value do. `fallback`, a position or a file, is used when the
 * stack names no position.
 */
export function describeThrown(thrown: unknown, fallback: SourcePosition | string | null): Fault {
  const stack = textMember(thrown, 'stack') ?? '';
  const position = findPosition(stack) ??
    (typeof fallback === 'string' || fallback === null
      ? { file: fallback, line: null, column: null }
      : fallback);
  let message = describe(thrown);
  let frames = authorFrames(stack);
  const causes = causesOf(thrown);
  for (let index = 0; index < causes.length; index++) {
    const text = thrownMessage(causes[index]);
    if (text !== '' && message.includes(text)) continue;
    const cause = describe(causes[index]);
    const below = authorFrames(textMember(causes[index], 'stack') ?? '');
    message += ` (cause: ${cause})`;
    if (below !== '') frames += `${frames === '' ? '' : '\n'}Caused by: ${cause}\n${below}`;
  }
  return makeFault(message, position, frames === '' ? null : frames.slice(0, maxStackLength));
}

/** The chain of an error's causes. Of an `AggregateError`, the first of its errors counts as its cause. */
function causesOf(thrown: unknown): readonly unknown[] {
  const found: unknown[] = withoutPrototype([]);
  let error = causeOf(thrown);
  while (found.length < maxCauses && error !== undefined && error !== null) {
    found[found.length] = error;
    error = causeOf(error);
  }
  return found;
}

function causeOf(error: unknown): unknown {
  const cause = readMember(error, 'cause');
  if (cause !== undefined || textMember(error, 'name') !== 'AggregateError') return cause;
  return readMember(readMember(error, 'errors'), '0');
}

/** Makes a fault of a message and a position. */
export function makeFault(
  message: string,
  position: { file: string | null; line: number | null; column: number | null },
  stack: string | null = null,
): Fault {
  const { file, line, column } = position;
  return withoutPrototype({ message: message.slice(0, maxMessageLength), file, line, column, stack });
}

/**
 * The message of a thrown value: an error's message, a thrown text, or the value as a text. Empty for null, for undefined,
 * and for a plain object, whose members may not be meant for the client.
 */
export function thrownMessage(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return '';
  const message = textMember(thrown, 'message') ?? tryRead(() => toText(thrown)) ??
    'something without a text was thrown';
  return message === noText ? '' : message.replace(positionAtEndPattern, '').slice(0, maxMessageLength);
}

/**
 * True for an error of the parser, whose position is in the code that was parsed. A missing export is found later, and its
 * position is where the author wrote the import.
 */
export function isParseError(thrown: unknown): boolean {
  const message = textMember(thrown, 'message') ?? '';
  return positionAtEndPattern.test(message) && !message.startsWith('The requested module ');
}

/** The fault of a file whose code failed in another file. Its position is the file's first frame on the stack. */
export function faultWithin(file: string, thrown: unknown): Fault {
  const lines = (textMember(thrown, 'stack') ?? '').split('\n');
  const position = lines.map(findPosition).find((one) => one?.file === file) ??
    { file, line: null, column: null };
  return { ...describeThrown(thrown, file), ...position };
}

/** The first position in the app's files that a stack names. */
export function findPosition(stack: string): SourcePosition | null {
  const found = positionPattern.exec(stack);
  if (found === null) return null;
  const shown = found[1] ?? '';
  const file = knownFiles.has(shown) ? shown : fileNameAt(`${urlPrefix}${shown}`);
  return file === null ? null : { file, line: Number(found[2]), column: Number(found[3]) };
}

declare global {
  // Declared neither by the language's types nor by those of Node.
  interface ImportMeta {
    url: string;
  }
}

/** The folder of the runner's own code, as stacks name it. */
const home = new URL('.', import.meta.url).href;
const runnerFramePattern = new RegExp(
  `\\n {4,}at [^\\n]*?(?:${
    home.replace(/[.+?]/g, '\\$&')
  }[^\\s():]*|ext:deno_node/async_hooks\\.ts):\\d+:\\d+\\)?`,
  'g',
);

/** Removes the stack lines of the runner's own code from a text, as they mean nothing to authors. */
export function stripRunnerFrames(text: string): string {
  return text.includes('  at ') ? text.replace(runnerFramePattern, '') : text;
}

/** The lines of a stack that are in the app's files, with file names instead of URLs. */
function authorFrames(stack: string): string {
  let frames = '';
  for (const line of stack.split('\n')) {
    if (/^\s*at /.test(line) && positionPattern.test(line)) {
      frames += `${frames === '' ? '' : '\n'}${shortenFrame(line)}`;
    }
  }
  return frames;
}

/** A stack line with file names instead of URLs. */
function shortenFrame(line: string): string {
  return line.trim().replaceAll(urlPrefix, '');
}

function describe(thrown: unknown): string {
  const message = thrownMessage(thrown);
  const name = textMember(thrown, 'name') ?? '';
  if (name !== '') return message === '' ? name : `${name}: ${message}`;
  if (message !== '') return message;
  return tryRead(() => typeof thrown === 'object' ? stringifyJson(thrown) : toText(thrown)) ?? '';
}

/** A member of a thrown object; null when it is no text. */
function textMember(thrown: unknown, name: string): string | null {
  const value = readMember(thrown, name);
  return typeof value === 'string' ? value : null;
}

function readMember(thrown: unknown, name: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  return tryRead(() => Reflect.get(thrown, name));
}

function tryRead<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined; // a getter of the author's threw
  }
}
