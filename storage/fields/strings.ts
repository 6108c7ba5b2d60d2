// What the kinds that hold strings share: well-formed text, bounds in characters, and what an index can hold.
import type { Field } from '../definition.ts';
import type { Reading, SettingFault } from './kind.ts';

/** A B-tree entry must fit a third of a page (https://www.postgresql.org/docs/18/btree.html), whatever compresses. */
const indexableBytes = 2_600;

const longestText = 1_000_000_000;

/** PostgreSQL refuses NUL, and a lone surrogate would silently be stored as U+FFFD; undefined when neither occurs. */
export function textFault(value: string): string | undefined {
  if (value.includes('\0')) return 'must not contain a NUL character';
  return value.isWellFormed() ? undefined : 'must not contain a lone surrogate';
}

/** Whether the text has at least `count` characters (code points), without making a list of them. */
function hasCharacters(value: string, count: number): boolean {
  if (value.length < count) return false;
  return value.length >= count * 2 || countCharacters(value) >= count;
}

function countCharacters(value: string): number {
  let pairs = 0;
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) pairs++;
  }
  return value.length - pairs;
}

/** Checks everything about a string but what it says. */
export function readText(value: unknown, { min, max, unique, index }: Field): Reading {
  if (typeof value !== 'string') return { reason: 'must be a string' };
  const fault = textFault(value);
  if (fault !== undefined) return { reason: fault };
  if (min !== undefined && !hasCharacters(value, min)) {
    return { reason: `must have at least ${min} characters` };
  }
  if (max !== undefined && hasCharacters(value, max + 1)) {
    return { reason: `must have at most ${max} characters` };
  }
  const indexed = unique === true || index === true;
  if (indexed && value.length * 3 > indexableBytes && Buffer.byteLength(value) > indexableBytes) {
    return { reason: `must have at most ${indexableBytes} bytes, because the field is unique or indexed` };
  }
  return { value };
}

/** Bounds of a length: whole numbers from 0, in order. */
export function lengthFaults({ min, max }: Field): SettingFault[] {
  const faults: SettingFault[] = [];
  for (const [setting, bound] of [['min', min], ['max', max]] as const) {
    if (bound !== undefined && !(Number.isInteger(bound) && bound >= 0 && bound <= longestText)) {
      faults.push({ setting, reason: 'must be a whole number of characters from 0' });
    }
  }
  if (faults.length === 0 && min !== undefined && max !== undefined && min > max) {
    faults.push({ setting: 'min', reason: 'must not be greater than max' });
  }
  return faults;
}
