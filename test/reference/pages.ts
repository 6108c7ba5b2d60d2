// The pages of docs/reference that are made from the code, so that they cannot say anything else.
import { errorCodes } from '../../api/errors.ts';
import { openApiOf } from '../../api/contract/openapi.ts';
import { errorsOf, whoMayCall } from '../../api/contract/route-errors.ts';
import type { AnyRoute } from '../../api/contract/route.ts';
import { routes } from '../../api/routes/index.ts';
import { environmentName, flagName, settingsByKey } from '../../supervisor/config.ts';

/** A generated page: its path from the root of the project, and what it must say. */
export interface Page {
  path: string;
  text: string;
}

/** Every generated page. `npm run reference` writes them; test/openapi.test.ts compares them. */
export function pages(): Page[] {
  return [
    { path: 'docs/reference/openapi.json', text: `${JSON.stringify(openApiOf(routes), null, 2)}\n` },
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/routes.md', text: routesPage(routes) },
    { path: 'docs/reference/configuration.md', text: configurationPage() },
  ];
}

const generated = '<!-- Written by `npm run reference`; do not edit. -->';

function errorsPage(): string {
  const rows = Object.entries(errorCodes).map((
    [code, { status, meaning }],
  ) => [String(status), `\`${code}\``, meaning]);
  return page('Errors', [
    'Every error is `{ "code": "…", "message": "…" }`. Programs should look at `code`; `message` is for people and may',
    'change. A `validation` message joins all wrong fields: `<field>: <reason>; <field>: <reason>`. Every answer has',
    '`X-Request-Id`, under which the log tells the rest.',
    '',
    ...table(['status', 'code', 'meaning'], rows),
    '',
    '`mfa_required` is not an error: a login that needs a second factor answers `202` with',
    '`{ "mfa_required": true, "challenge_id": "…" }`.',
  ]);
}

function routesPage(all: readonly AnyRoute[]): string {
  const rows = all.map((route) => [
    `\`${route.method} ${route.path}\``,
    whoMayCall(route),
    String(route.status),
    errorsOf(route).filter((code) => !everywhere.has(code)).map((code) => `\`${code}\``).join(' '),
  ]);
  return page('Routes', [
    'Who may call what. A scope is decided from the claims of the access token alone, before anything is looked up;',
    '“or above” means: master admin above workspace admin above app admin. Every `GET` answers `HEAD` too.',
    `Not repeated in the last column, since almost every route answers them: ${
      [...everywhere].map((code) => `\`${code}\``).join(', ')
    }.`,
    'Bodies, queries and answers are in [openapi.json](openapi.json).',
    '',
    ...table(['route', 'who', 'answers', 'errors of its own'], rows),
  ]);
}

function configurationPage(): string {
  const rows = [...settingsByKey].map(([key, setting]) => [
    `\`${key}\``,
    setting.secret ? '' : `\`${JSON.stringify(setting.default)}\``,
    `${setting.doc} Must be ${setting.kind.expected}.${setting.secret ? ' Secret: never printed.' : ''}`,
    `\`${environmentName(key)}\``,
    `\`${flagName(key)}\``,
  ]);
  return page('Configuration', [
    'Read in this order, the later winning: `bulkhead.config.{ts,js,json,yaml,toml}` in the working directory, environment',
    'variables, command-line flags. A list is written in the environment and in flags as a JSON array, or separated by',
    'commas. An unknown key or a wrong value stops the start with one line that names it. `bulkhead config` prints the',
    'effective values, secrets masked, and where each came from.',
    '',
    ...table(['key', 'default', 'what', 'environment', 'flag'], rows),
  ]);
}

const everywhere: ReadonlySet<string> = new Set([
  'payload_too_large',
  'too_many_requests',
  'internal',
  'uninitialized',
  'unavailable',
]);

function page(title: string, lines: readonly string[]): string {
  return [`# ${title}`, '', generated, '', ...lines, ''].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
