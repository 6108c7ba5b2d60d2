// The page that a browser gets at `/`, next to what every other client gets there.
import { describe, expect, it } from 'vitest';
import { send, serverUrl } from '../../harness/api.ts';
import { expectError, expectStandingHeaders } from '../../harness/expectations.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

/** As Chromium asks for a page. */
const page = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

function visit(method: string, accept: string, path = '/') {
  return send(serverUrl() + path, { method, headers: { Accept: accept } });
}

describe('GET / of a browser', () => {
  it('responds with a page without scripts, whose only style its policy lets through', async () => {
    const response = await visit('GET', page);
    expect(response.status).toBe(200);
    expectStandingHeaders(response.headers);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Vary')).toContain('Accept');
    // One policy: of two, both would count, and the style would not.
    expect(response.headers.get('Content-Security-Policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/,
    );
    expect(response.text).toContain('This server is set up');
    expect(response.text).not.toMatch(/<script|\son\w+=|style=/i);
  });

  it('links to what is there', async () => {
    const { text } = await visit('GET', page);
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
    expect(links).toEqual(['/_/openapi.json', '/healthz', '/readyz']);
    for (const path of links) expect((await visit('GET', page, path)).status).toBe(200);
  });

  it('responds to HEAD alike, without the page', async () => {
    const [head, get] = await Promise.all([visit('HEAD', page), visit('GET', `text/html`)]);
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.get('Content-Length')).toBe(get.headers.get('Content-Length'));
  });

  it('names the host in its commands, but none that a shell would run', async () => {
    const from = (host: string) =>
      sendRaw(
        serverUrl(),
        `GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      );
    expect((await from('api.example:8443')).text).toContain('curl -X POST http://api.example:8443/_/auth/');
    for (const host of ['x;reboot', "x'`id`", 'x$(id)', '<b>']) {
      const { text } = await from(host);
      expect(text).not.toContain(host);
    }
  });
});

describe('/ of any other client', () => {
  it.each(['*/*', 'application/json', 'text/html-x', 'application/text/html', ''])(
    'is no route for Accept: %j',
    async (accept) => expectError(await visit('GET', accept), 404, 'not_found'),
  );

  it.each([['POST', '/'], ['DELETE', '/'], ['GET', '/nope'], ['GET', '/_/']])(
    'is no route for %s %s, whatever it accepts',
    async (method, path) => expectError(await visit(method, page, path), 404, 'not_found'),
  );
});
