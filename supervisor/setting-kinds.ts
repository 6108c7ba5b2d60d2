// The kinds of settings: how a value of each kind is read from a file and from text, and how the kind is described.

/** An invalid value of which more can be said than what is expected. The message completes the setting's key. */
export class WrongValue extends Error {}

/** A kind of setting. Both readers return undefined for an invalid value, or throw `WrongValue`. */
export interface SettingKind<Value> {
  /** Completes "must be …". */
  expected: string;
  /** Reads a value of a configuration file. */
  read: (value: unknown) => Value | undefined;
  /** Reads an environment variable or a flag. */
  readText: (text: string) => Value | undefined;
}

/** Text that is `valid`. `expected` describes it. */
export function textKind(
  expected = 'text',
  valid: (value: string) => boolean = () => true,
): SettingKind<string> {
  const read = (value: unknown) =>
    typeof value === 'string' && !value.includes('\0') && valid(value) ? value : undefined;
  return { expected, read, readText: read };
}

/** An integer within bounds. */
export function integerKind(min: number, max: number): SettingKind<number> {
  const read = (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
  return {
    expected: `an integer from ${min} to ${max}`,
    read,
    readText: (given) => /^-?\d{1,15}$/.test(given) ? read(Number(given)) : undefined,
  };
}

/** A number within bounds. */
export function numberKind(min: number, max: number): SettingKind<number> {
  const read = (value: unknown) =>
    typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max ? value : undefined;
  return {
    expected: `a number from ${min} to ${max}`,
    read,
    readText: (given) => /^\d{1,15}(\.\d{1,15})?$/.test(given) ? read(Number(given)) : undefined,
  };
}

const words: Readonly<Record<string, boolean>> = { true: true, false: false };

/** `true` or `false`. */
export const booleanKind: SettingKind<boolean> = {
  expected: 'true or false',
  read: (value) => typeof value === 'boolean' ? value : undefined,
  readText: (given) => Object.hasOwn(words, given) ? words[given] : undefined,
};

/** One of some words. */
export function choiceKind<const Word extends string>(...choices: readonly Word[]): SettingKind<Word> {
  const read = (value: unknown) => choices.find((word) => word === value);
  return { expected: `one of ${choices.join(', ')}`, read, readText: read };
}

/** A list of texts. Read from text, it is a JSON array, or separated by commas. */
export function listKind(item: SettingKind<string>): SettingKind<readonly string[]> {
  const read = (value: unknown) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.map((entry: unknown) => item.read(entry)).filter((entry) => entry !== undefined);
    return items.length === value.length ? items : undefined;
  };
  return {
    expected: `a list, each ${item.expected}`,
    read,
    readText: (given) => given.trimStart().startsWith('[') ? read(parseJson(given)) : read(split(given)),
  };
}

/** One of two kinds. The first is tried first. */
export function eitherKind<First, Second>(
  first: SettingKind<First>,
  second: SettingKind<Second>,
): SettingKind<First | Second> {
  return {
    expected: `${first.expected}, or ${second.expected}`,
    read: (value) => first.read(value) ?? second.read(value),
    readText: (given) => first.readText(given) ?? second.readText(given),
  };
}

function split(given: string): string[] {
  return given.split(',').map((part) => part.trim()).filter((part) => part !== '');
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    // Not JSON: the caller reports what is expected.
    return undefined;
  }
}
