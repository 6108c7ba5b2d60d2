// Prints results: for people as tables, with --json for programs.
import { memberOf } from './members.ts';

/** A column: its title, and the member that it shows. */
export type Column = readonly [title: string, member: string];

/** Prints a value as JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints a line for people. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a line about what is going on, apart from results. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Prints items as a table with a line of titles, or says that there are none. */
export function printTable(items: readonly unknown[], columns: readonly Column[]): void {
  if (items.length === 0) return printNote('There are none.');
  const rows = [
    columns.map(([title]) => title),
    ...items.map((item) => columns.map(([, member]) => show(memberOf(item, member)))),
  ];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of rows) printLine(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ').trimEnd());
}

/** Prints an object as lines of `name: value`. */
export function printMembers(value: object): void {
  const members = Object.entries(value);
  const width = Math.max(0, ...members.map(([name]) => name.length));
  for (const [name, member] of members) printLine(`${`${name}:`.padEnd(width + 2)}${show(member)}`);
}

function show(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) {
    return printable(value.join(', '));
  }
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The text without characters that a terminal would obey, or that turn the order of others around. */
export function printable(text: string): string {
  return text.replaceAll(
    // deno-lint-ignore no-control-regex
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
