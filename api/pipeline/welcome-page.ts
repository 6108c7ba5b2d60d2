// The page that a browser gets at `/`: says what this server is, and how to set it up.
import { createHash } from 'node:crypto';
import { RawResponse } from '../contract/route.ts';
import type { Deps } from '../deps.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { RequestInfo } from '../http/request-info.ts';
import { notStored, writeHead } from '../http/response-headers.ts';
import { refreshSetup } from './setup-gate.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 2rem; font-size: 1.2rem; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid #8886; border-radius: 6px; background: #8881; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

const pageHeaders: HeaderList = [
  ['Content-Type', 'text/html; charset=utf-8'],
  [
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  ],
  notStored,
  ['Vary', 'Accept'],
];
const pageHeaderNames: ReadonlySet<string> = new Set(pageHeaders.map(([name]) => name));

/** True for a browser that opens the address of the server. Other clients get the error of a path without a route. */
export function wantsWelcomePage({ event, method, header }: RequestInfo): boolean {
  return event.url.pathname === '/' && (method === 'GET' || method === 'HEAD') &&
    /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(header('accept') ?? '');
}

/** Makes the page. */
export async function welcomePage(
  deps: Pick<Deps, 'config' | 'databases' | 'setup' | 'observe'>,
  request: RequestInfo,
): Promise<RawResponse> {
  await refreshSetup(deps);
  const html = writePage(originOf(request, deps.config.http.trust_proxy), deps.setup.initialized);
  return new RawResponse(({ response, headers }) => {
    const others = headers.filter(([name]) => !pageHeaderNames.has(name));
    const length = ['Content-Length', String(Buffer.byteLength(html))] as const;
    writeHead(response, 200, [...others, ...pageHeaders, length]).end(html);
    return Promise.resolve();
  });
}

/** The address in the commands of the page. They are to be pasted into a shell, so no odd `Host` gets there. */
function originOf({ header }: RequestInfo, trustProxy: boolean): string {
  const host = header('host') ?? '';
  const scheme = trustProxy && header('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return `${scheme}://${/^[a-z0-9.:[\]-]+$/i.test(host) ? host : '127.0.0.1:8080'}`;
}

function writePage(origin: string, isSetUp: boolean): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Bulkhead</title>
<style>${style}</style>
</head>
<body>
<h1>Bulkhead</h1>
<p>A backend server for many tenants: each workspace has a database of its own, with records, sign-in, files, live
updates and server-side code. All there is to see here is its HTTP API.</p>
${isSetUp ? whenSetUp(origin) : beforeSetup(origin)}
<p>To go on, read <code>README.md</code> and <code>docs/</code>, which came with the program.</p>
</body>
</html>
`;
}

function beforeSetup(origin: string): string {
  return `<h2>Set it up</h2>
<p>This server has not been set up. Set the password of the master admin, which opens the server:</p>
<pre>${curl(origin, '/_/setup', '{"password":"choose a long one"}')}</pre>
<p>Then come back here for the description of the API. Meanwhile:</p>
<ul>
${stateLinks}
</ul>`;
}

function whenSetUp(origin: string): string {
  return `<h2>Use it</h2>
<p>This server is set up. The master admin logs in with:</p>
<pre>${curl(origin, '/_/auth/admin/login', '{"username":"admin","password":"…"}')}</pre>
<p>If the password is lost, <code>bulkhead admin password</code> sets a new one.</p>
<ul>
<li><a href="/_/openapi.json">/_/openapi.json</a> describes the API (OpenAPI 3.1)</li>
${stateLinks}
</ul>`;
}

const stateLinks = `<li><a href="/healthz">/healthz</a> says that the server is alive</li>
<li><a href="/readyz">/readyz</a> says if its database responds</li>`;

function curl(origin: string, path: string, body: string): string {
  return `curl -X POST ${origin}${path} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}
