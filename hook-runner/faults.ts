// What went wrong in an author's code, told by file, line and column of the author's own text.
import { fileNameAt, urlPrefix } from './addresses.ts';
import type { Fault } from './registrations.ts';
import { safeMap, stringifyJson, toText, withoutPrototype } from './untampered.ts';

const maxMessageLength = 2_000;
const maxStackLength = 4_000;
/** An error may be its own cause. */
const maxCauses = 4;
/** What the language makes of a plain object. */
const noText = '[object Object]';

const positionPattern = /file:\/\/\/hooks\/([^\n]+?\.[jt]s):(\d+):(\d+)/;
/** V8 ends the message of a syntax error with where it is. */
const positionAtEndPattern = / at file:\/\/\/hooks\/[^\n]+?\.[jt]s:\d+:\d+$/;

/** The app's files: Deno shows addresses decoded, V8 as they are, and a name may look like either. */
const knownFiles = safeMap<string, true>();

/** Makes the names of the app's files known, so that places in them are found. */
export function registerFileNames(names: readonly string[]): void {
  for (const name of names) knownFiles.set(name, true);
}

/** Where something is in a file of the app. Lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/**
 * Describes whatever was thrown. Never throws, though getters of the thrown object may. `standIn`, a place or a file alone,
 * is told where its stack names none.
 */
export function describeThrown(thrown: unknown, standIn: SourcePosition | string | null): Fault {
  const stack = textMember(thrown, 'stack') ?? '';
  const told = typeof standIn === 'string' || standIn === null
    ? { file: standIn, line: null, column: null }
    : standIn;
  const place = findPosition(stack) ?? told;
  let message = describe(thrown);
  let frames = authorFrames(stack);
  const reasons = causesOf(thrown);
  for (let index = 0; index < reasons.length; index++) {
    const text = thrownMessage(reasons[index]);
    if (text !== '' && message.includes(text)) continue;
    const reason = describe(reasons[index]);
    const below = authorFrames(textMember(reasons[index], 'stack') ?? '');
    message += ` (cause: ${reason})`;
    if (below !== '') frames += `${frames === '' ? '' : '\n'}Caused by: ${reason}\n${below}`;
  }
  return makeFault(message, place, frames === '' ? null : frames.slice(0, maxStackLength));
}

/** What caused an error, what caused that, and so on; of an `AggregateError` the first of its errors. */
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

/** A fault with a message and a place of the runner's choice. */
export function makeFault(
  message: string,
  place: { file: string | null; line: number | null; column: number | null },
  stack: string | null = null,
): Fault {
  const { file, line, column } = place;
  return withoutPrototype({ message: message.slice(0, maxMessageLength), file, line, column, stack });
}

/**
 * The message of what was thrown, as its author meant it: that of an error, a thrown text, else a text of the value; none
 * of a plain object, whose members may not be for whoever reads it, and of nothing.
 */
export function thrownMessage(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return '';
  const message = textMember(thrown, 'message') ?? tryRead(() => toText(thrown)) ??
    'something without a text was thrown';
  return message === noText ? '' : message.replace(positionAtEndPattern, '').slice(0, maxMessageLength);
}

/**
 * Whether the parser threw it, which tells a place in the code that it read. That a module lacks an export comes out later,
 * when Deno knows where the author wrote the import.
 */
export function isParseError(thrown: unknown): boolean {
  const message = textMember(thrown, 'message') ?? '';
  return positionAtEndPattern.test(message) && !message.startsWith('The requested module ');
}

/** The fault of a file whose code failed in another's: where its own stands on the stack. */
export function faultWithin(file: string, thrown: unknown): Fault {
  const place: SourcePosition = { file, line: null, column: null };
  const lines = (textMember(thrown, 'stack') ?? '').split('\n');
  const own = lines.map(findPosition).find((one) => one?.file === file) ?? place;
  return { ...describeThrown(thrown, file), ...own };
}

/** The first place in the app's files that a stack names. */
export function findPosition(stack: string): SourcePosition | null {
  const found = positionPattern.exec(stack);
  if (found === null) return null;
  const shown = found[1] ?? '';
  const file = knownFiles.has(shown) ? shown : fileNameAt(`${urlPrefix}${shown}`);
  return file === null ? null : { file, line: Number(found[2]), column: Number(found[3]) };
}

declare global {
  // Named neither by the language's own types nor, for the type checker, by Deno's.
  interface ImportMeta {
    url: string;
  }
}

/** Where the runner's own code is, as stacks name it, and by way of what it calls the author's. */
const home = new URL('.', import.meta.url).href;
const runnerFramePattern = new RegExp(
  `\\n {4,}at [^\\n]*?(?:${
    home.replace(/[.+?]/g, '\\$&')
  }[^\\s():]*|ext:deno_node/async_hooks\\.ts):\\d+:\\d+\\)?`,
  'g',
);

/** A text without the lines of stacks that are in the runner's own code, which say nothing to authors. */
export function stripRunnerFrames(text: string): string {
  return text.includes('  at ') ? text.replace(runnerFramePattern, '') : text;
}

/** The lines of a stack that are in the app's files, without the address they are loaded from. */
function authorFrames(stack: string): string {
  let frames = '';
  for (const line of stack.split('\n')) {
    if (/^\s*at /.test(line) && positionPattern.test(line)) {
      frames += `${frames === '' ? '' : '\n'}${shortenFrame(line)}`;
    }
  }
  return frames;
}

/** A text of a stack with file names instead of addresses. */
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

/** A member of a thrown object if it is a text. */
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
    return undefined; // a getter of the author's that throws has no more to say
  }
}
