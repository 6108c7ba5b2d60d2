// What a bench found: a table for the terminal, JSON for programs, a plot for people.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Findings } from './findings.ts';
import { plotOf } from './plot.ts';
import type { Spread } from './statistics.ts';

const directory = fileURLToPath(new URL('../../bench-results/', import.meta.url));

/** Where a file of results goes. */
export function resultFile(name: string): string {
  return join(directory, name);
}

/** Prints the table and writes `bench-results/<bench>.json` and `.svg`. */
export async function report(findings: Findings): Promise<void> {
  process.stdout.write(`\n${tableOf(findings)}\n`);
  await mkdir(directory, { recursive: true });
  const machine = { node: process.version, cpu: cpus()[0]?.model.trim(), cores: cpus().length };
  const json = { ...findings, machine, at: new Date().toISOString() };
  await writeFile(resultFile(`${findings.bench}.json`), `${JSON.stringify(json, null, 2)}\n`);
  await writeFile(resultFile(`${findings.bench}.svg`), plotOf(findings));
}

/** The figures as an aligned table: median (min to max). */
function tableOf({ bench, title, sides = ['ours', 'yardstick'], figures }: Findings): string {
  const rows = figures.map(({ name, unit, ours, baseline, ratio, goal }) => [
    name,
    render(ours, unit),
    baseline === undefined ? '' : render(baseline, unit),
    ratio === undefined ? '' : render(ratio, ''),
    goal === undefined ? '' : `${goal.reached ? 'reached' : 'MISSED'}: ${goal.text}`,
  ]);
  const all = [['', `${sides[0]}: median (min..max)`, sides[1], 'ratio', 'goal'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()
  );
  return [`${bench}: ${title}`, ...lines].join('\n');
}

function render({ median, min, max }: Spread, unit: string): string {
  const suffix = unit === '' ? '' : ` ${unit}`;
  return min === max
    ? `${round(median)}${suffix}`
    : `${round(median)}${suffix} (${round(min)}..${round(max)})`;
}

/** Three significant digits are all that such figures deserve; thousands get a separator. */
function round(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
