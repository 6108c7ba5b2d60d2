// `bulkhead config`: what takes effect, and where it came from.
import { environmentName, type ResolvedConfig } from '../config.ts';

const mask = '********';

/** The effective configuration as text: `key = value  # source`; secrets are masked. */
export function describeConfig({ effective }: ResolvedConfig): string {
  const rows = [...effective].map(([key, entry]) => ({ ...entry, shown: `${key} = ${show(entry)}` }));
  const width = Math.max(...rows.map(({ shown }) => Math.min(shown.length, 60)));
  return rows.map(({ shown, source }) => `${shown.padEnd(width)}  # ${source}\n`).join('');
}

/** The same as JSON, with each setting's environment variable and documentation. */
export function describeConfigAsJson({ effective }: ResolvedConfig): string {
  const rows = [...effective].map(([key, entry]) => {
    const value = isMasked(entry) ? mask : entry.value;
    return [key, { value, source: entry.source, environment: environmentName(key), doc: entry.doc }];
  });
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
}

function show(entry: { value: unknown; secret: boolean }): string {
  return isMasked(entry) ? mask : JSON.stringify(entry.value);
}

/** An empty secret is shown as such: an operator wants to know that it is not set. */
function isMasked(entry: { value: unknown; secret: boolean }): boolean {
  return entry.secret && entry.value !== '';
}
