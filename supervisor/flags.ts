// Parses the flags of the command line: one for each setting, `--set key=value`, and those of the command.
import { parseArgs } from 'node:util';
import { flagName, type SettingFlag, settingsByKey } from './config.ts';
import { messageOf } from './errors.ts';
import { StartRefused } from './start-refused.ts';

/** The flags of one command besides the settings. */
export type CommandFlags = Readonly<Record<string, { type: 'string' | 'boolean' }>>;

/** The parsed flags. */
export interface ParsedFlags {
  flags: SettingFlag[];
  json: boolean;
  /** The value of one of the command's own flags. */
  own(name: string): string | undefined;
}

/**
 * Parses `--http-port 8080`, `--http-port=8080`, `--set http.port=8080`, the command's own flags, and its arguments without
 * a flag, which get the given names. Throws `StartRefused` for any other flag or argument.
 */
export function readFlags(
  rawArgs: readonly string[],
  ownFlags: CommandFlags = {},
  names: readonly string[] = [],
): ParsedFlags {
  const keys = new Map([...settingsByKey.keys()].map((key) => [flagName(key).slice(2), key]));
  const options = Object.fromEntries([...keys.keys()].map((name) => [name, { type: 'string' }] as const));
  const flags: SettingFlag[] = [];
  const { values, positionals } = parse([...rawArgs], { ...options, ...ownFlags });
  if (positionals.length > names.length) {
    throw new StartRefused(`Unexpected argument '${positionals[names.length]}' (command line)`);
  }
  names.forEach((name, at) => values[name] = positionals[at]);
  for (const [name, value] of Object.entries(values)) {
    const key = keys.get(name);
    if (key !== undefined && typeof value === 'string') {
      flags.push({ key, text: value, source: `flag --${name}` });
    }
  }
  const pairs = Array.isArray(values['set']) ? values['set'] : [];
  for (const pair of pairs) {
    const at = String(pair).indexOf('=');
    if (at < 1) throw new StartRefused(`--set needs key=value, not ${pair}`);
    const key = String(pair).slice(0, at);
    flags.push({ key, text: String(pair).slice(at + 1), source: `flag --set ${key}` });
  }
  const own = (name: string) => values[name] === undefined ? undefined : String(values[name]);
  return { flags, json: values['json'] === true, own };
}

function parse(
  args: string[],
  options: CommandFlags,
): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({
      args,
      options: { ...options, set: { type: 'string', multiple: true }, json: { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch (error) {
    const message = messageOf(error);
    throw new StartRefused(`${message.split('. ')[0]} (command line)`);
  }
}
