// The pages of docs/reference that are made from the code, so that they cannot say anything else.
import { errorCodes, fieldErrorCodes } from '../../api/errors.ts';
import { keyScopes } from '../../api/contract/key-scopes.ts';
import { describeApi } from '../../api/contract/openapi.ts';
import { routeErrors } from '../../api/contract/route-errors.ts';
import { keyNeeds, whoMayCall } from '../../api/contract/route-traits.ts';
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
    { path: 'docs/reference/openapi.json', text: `${JSON.stringify(describeApi(routes), null, 2)}\n` },
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/api-keys.md', text: keysPage() },
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
    'Every error response has the body `{ "code": "…", "message": "…" }`. Let your program check `code`. `message` is for',
    'people and may change. Every response has an `X-Request-Id`; look for that id in the log to find out more.',
    '',
    ...table(['status', 'code', 'meaning'], rows),
    '',
    '## Errors of members',
    '',
    'An error about members of the request also has `errors`, so that a page can show each message beside its input:',
    '',
    '```json',
    '{',
    '  "code": "validation",',
    '  "message": "title: is required; price: must be a number",',
    '  "errors": [',
    '    { "path": "title", "code": "required", "message": "is required" },',
    '    { "path": "price", "code": "invalid", "message": "must be a number" }',
    '  ]',
    '}',
    '```',
    '',
    `These codes can have it: ${listOf(codesWithErrors)}.`,
    'It lists everything that is wrong with the body, or the unique value that is taken, or the field that a',
    '[hook](../how-to/hooks.md) refuses with a `FieldError`. Without `errors`, the error is about the request as a whole.',
    '',
    '`path` is the name of a field, of another member of the body, or of a query parameter. Names and positions inside of it',
    'follow with dots between them. In a [batch](collections.md#batch) it begins with the request: `requests.0.body.title`.',
    '',
    ...table(
      ['code', 'meaning'],
      Object.entries(fieldErrorCodes).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    '',
    '## A second factor',
    '',
    '`mfa_required` is not an error. A login that needs a second factor gets `202` with',
    '`{ "mfa_required": true, "challenge_id": "…" }`.',
  ]);
}

const codesWithErrors = Object.entries(errorCodes).filter(([, row]) => 'hasErrors' in row).map(([code]) =>
  code
);

function listOf(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}

function routesPage(all: readonly AnyRoute[]): string {
  const rows = all.map((route) => [
    `\`${route.method} ${route.path}\``,
    route.summary,
    whoMayCall(route),
    keyNeeds(route) ?? '',
    String(route.status),
    routeErrors(route).filter((code) => !everywhere.has(code)).map((code) => `\`${code}\``).join(' '),
  ]);
  return page('Routes', [
    'All routes, and who may call them. [openapi.json](openapi.json) has their bodies, query parameters and responses. Every',
    '`GET` route supports `HEAD` too.',
    '',
    'The server decides who may call a route from the access token alone, before it reads anything from the database. “Or',
    'above” follows this order: app admin, workspace admin, master admin.',
    '',
    'An [API key](api-keys.md) counts as an admin of its level, and needs the scope that the column *API keys* names.',
    '',
    `Almost every route can also return these errors, so the table does not repeat them: ${
      listOf([...everywhere])
    }.`,
    '',
    ...table(['route', 'what it does', 'callers', 'API keys', 'status', 'further errors'], rows),
  ]);
}

function keysPage(): string {
  const rows = Object.entries(keyScopes).map(([name, { lowest, narrowest, allows }]) => [
    `\`${name}\``,
    `${allows.replace(/^./, (first) => first.toUpperCase())}.`,
    lowest === 'app' ? 'all' : lowest === 'workspace' ? 'workspace, server' : 'server',
    narrowest,
  ]);
  return page('API keys', [
    'A key is the bearer token of a program. [Give a program a key](../how-to/api-keys.md) shows how to make one.',
    '',
    'A key belongs to a level: the server (`/api/keys`), a workspace (`…/keys`) or an app (`…/apps/:app/keys`). There it counts',
    'as an admin of that level, as far as its scopes go. It never signs in, makes keys or admins, acts as a user, or changes',
    'passwords and second factors.',
    '',
    'The column *narrowed to* says how far a scope can be restricted: `scope@path`, where the path begins below the level of',
    'the key. With a key of the server, `records:read@shop/blog/posts` reads one collection; with a key of the workspace',
    '`shop` the same is `records:read@blog/posts`, with a key of its app `blog` `records:read@posts`.',
    '',
    ...table(['scope', 'allows to', 'keys of', 'narrowed to'], rows),
    '',
    'A key with `records:read` for some collections follows no relation to others: `expand` leaves them out, and a filter that',
    'asks for them gets `403 forbidden`. The [routes](routes.md) name the scope of each.',
    '',
    'In hooks, `e.auth.role` is `api_key`, `e.auth.id` the id of the key, and `e.auth.maker` its admin. In filters,',
    "`@request.auth.role = 'api_key'` is true. Each key has a rate limit of its own, of the size of that of an address.",
  ]);
}

function configurationPage(): string {
  const rows = [...settingsByKey].map(([key, setting]) => [
    `\`${key}\``,
    setting.secret ? '' : `\`${JSON.stringify(setting.default)}\``,
    `${setting.doc} Must be ${setting.kind.expected.replaceAll('<', '&lt;')}.${
      setting.secret ? ' Secret: never printed.' : ''
    }`,
    `\`${environmentName(key)}\``,
    `\`${flagName(key)}\``,
  ]);
  return page('Configuration', [
    'You can set each value in three places. A flag wins over an environment variable, and that wins over the file:',
    '',
    '1. the file `bulkhead.config.{ts,js,json,yaml,toml}` in the working directory,',
    '2. an environment variable,',
    '3. a command-line flag.',
    '',
    'To see the values in effect and where each comes from, run `npx bulkhead config`. It masks secrets.',
    '',
    'Write a list in the environment or in a flag as a JSON array, or separate its items by commas. If a key is unknown or a',
    'value is wrong, the server does not start, and prints one line that names it.',
    '',
    ...table(['key', 'default', 'meaning', 'environment variable', 'flag'], rows),
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
