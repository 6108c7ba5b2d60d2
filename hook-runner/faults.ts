// What went wrong in an author's code, told by file, line and column of the author's own text.
import { ownNameOf, urlPrefix } from './addresses.ts';
import type { Fault } from './registrations.ts';
import { asText, bare, ownMap, stringifyJson } from './untampered.ts';

const longestMessage = 2_000;
const longestStack = 4_000;
/** An error may be its own cause. */
const mostReasons = 4;
/** What the language makes of a plain object. */
const noText = '[object Object]';

const position = /file:\/\/\/hooks\/([^\n]+?\.[jt]s):(\d+):(\d+)/;
/** V8 ends the message of a syntax error with where it is. */
const positionAtEnd = / at file:\/\/\/hooks\/[^\n]+?\.[jt]s:\d+:\d+$/;

/** The app's files: Deno shows addresses decoded, V8 as they are, and a name may look like either. */
const known = ownMap<string, true>();

/** Makes the names of the app's files known, so that places in them are found. */
export function nameFiles(names: readonly string[]): void {
  for (const name of names) known.set(name, true);
}

/** Where something is in a file of the app. Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/**
 * Describes whatever was thrown. Never throws, though getters of the thrown object may. `standIn`, a place or a file alone,
 * is told where its stack names none.
 */
export function faultOf(thrown: unknown, standIn: Place | string | null): Fault {
  const stack = textOf(thrown, 'stack') ?? '';
  const told = typeof standIn === 'string' || standIn === null
    ? { file: standIn, line: null, column: null }
    : standIn;
  const place = placeIn(stack) ?? told;
  let message = describe(thrown);
  let frames = ownFrames(stack);
  const reasons = reasonsOf(thrown);
  for (let index = 0; index < reasons.length; index++) {
    const text = messageOf(reasons[index]);
    if (text !== '' && message.includes(text)) continue;
    const reason = describe(reasons[index]);
    const below = ownFrames(textOf(reasons[index], 'stack') ?? '');
    message += ` (cause: ${reason})`;
    if (below !== '') frames += `${frames === '' ? '' : '\n'}Caused by: ${reason}\n${below}`;
  }
  return fault(message, place, frames === '' ? null : frames.slice(0, longestStack));
}

/** What caused an error, what caused that, and so on; of an `AggregateError` the first of its errors. */
function reasonsOf(thrown: unknown): readonly unknown[] {
  const found: unknown[] = bare([]);
  let error = reasonOf(thrown);
  while (found.length < mostReasons && error !== undefined && error !== null) {
    found[found.length] = error;
    error = reasonOf(error);
  }
  return found;
}

function reasonOf(error: unknown): unknown {
  const cause = memberOf(error, 'cause');
  if (cause !== undefined || textOf(error, 'name') !== 'AggregateError') return cause;
  return memberOf(memberOf(error, 'errors'), '0');
}

/** A fault with a message and a place of the runner's choice. */
export function fault(
  message: string,
  place: { file: string | null; line: number | null; column: number | null },
  stack: string | null = null,
): Fault {
  const { file, line, column } = place;
  return bare({ message: message.slice(0, longestMessage), file, line, column, stack });
}

/**
 * The message of what was thrown, as its author meant it: that of an error, a thrown text, else a text of the value; none
 * of a plain object, whose members may not be for whoever reads it, and of nothing.
 */
export function messageOf(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return '';
  const message = textOf(thrown, 'message') ?? safely(() => asText(thrown)) ??
    'something without a text was thrown';
  return message === noText ? '' : message.replace(positionAtEnd, '').slice(0, longestMessage);
}

/**
 * Whether the parser threw it, which tells a place in the code that it read. That a module lacks an export comes out later,
 * when Deno knows where the author wrote the import.
 */
export function isOfParser(thrown: unknown): boolean {
  const message = textOf(thrown, 'message') ?? '';
  return positionAtEnd.test(message) && !message.startsWith('The requested module ');
}

/** The fault of a file whose code failed in another's: where its own stands on the stack. */
export function faultWithin(file: string, thrown: unknown): Fault {
  const place: Place = { file, line: null, column: null };
  const lines = (textOf(thrown, 'stack') ?? '').split('\n');
  const own = lines.map(placeIn).find((one) => one?.file === file) ?? place;
  return { ...faultOf(thrown, file), ...own };
}

/** The first place in the app's files that a stack names. */
export function placeIn(stack: string): Place | null {
  const found = position.exec(stack);
  if (found === null) return null;
  const shown = found[1] ?? '';
  const file = known.has(shown) ? shown : ownNameOf(`${urlPrefix}${shown}`);
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
const ownLine = new RegExp(
  `\\n {4,}at [^\\n]*?(?:${
    home.replace(/[.+?]/g, '\\$&')
  }[^\\s():]*|ext:deno_node/async_hooks\\.ts):\\d+:\\d+\\)?`,
  'g',
);

/** A text without the lines of stacks that are in the runner's own code, which say nothing to authors. */
export function withoutRunner(text: string): string {
  return text.includes('  at ') ? text.replace(ownLine, '') : text;
}

/** The lines of a stack that are in the app's files, without the address they are loaded from. */
function ownFrames(stack: string): string {
  let frames = '';
  for (const line of stack.split('\n')) {
    if (/^\s*at /.test(line) && position.test(line)) {
      frames += `${frames === '' ? '' : '\n'}${shortened(line)}`;
    }
  }
  return frames;
}

/** A text of a stack with file names instead of addresses. */
function shortened(line: string): string {
  return line.trim().replaceAll(urlPrefix, '');
}

function describe(thrown: unknown): string {
  const message = messageOf(thrown);
  const name = textOf(thrown, 'name') ?? '';
  if (name !== '') return message === '' ? name : `${name}: ${message}`;
  if (message !== '') return message;
  return safely(() => typeof thrown === 'object' ? stringifyJson(thrown) : asText(thrown)) ?? '';
}

/** A member of a thrown object if it is a text. */
function textOf(thrown: unknown, name: string): string | null {
  const value = memberOf(thrown, name);
  return typeof value === 'string' ? value : null;
}

function memberOf(thrown: unknown, name: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  return safely(() => Reflect.get(thrown, name));
}

function safely<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined; // a getter of the author's that throws has no more to say
  }
}
