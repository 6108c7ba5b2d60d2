// Providers that are set up to make the server ask what it must not, and such as misbehave.
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { type CodeHost, startCodeHost } from '../../../harness/code-host.ts';
import { authorize, redeem, redirectUri, useProvider } from '../../../harness/oauth.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { setUp } from '../../../harness/set-up.ts';
import { freshEmail } from '../../../harness/users.ts';

let own: OwnWorkspace;
let host: CodeHost;

beforeAll(async () => {
  [own, host] = await Promise.all([ownWorkspace(), startCodeHost()]);
});
afterAll(() => host.close());

const publicUrl = 'https://idp.example/';
const good = { auth_url: publicUrl, token_url: publicUrl, userinfo_url: publicUrl };

describe('a URL of a provider', () => {
  const members = ['auth_url', 'token_url', 'userinfo_url'];
  const hosts = [
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.100.100.200',
    '0.0.0.0',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '2852039166',
    '0xa9.0xfe.0xa9.0xfe',
    '0251.0376.0251.0376',
  ];
  const rows = hosts.flatMap((host) => members.map((member) => [host, member] as const));

  it.each(rows)('oauth.ssrf: http://%s/ is refused as %s', async (host, member) => {
    const config = { ...good, [member]: `http://${host}/` };
    const response = await own.admin.put(`${own.path}/auth/oauth/providers/p`, { client_id: 'x', config });
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(response.body.message).toBe(`config.${member}: must not be an address of a private network`);
  });
});

describe('a server', () => {
  /** Sets `peer` up with the code host's URLs, spelled with another name of the machine. */
  async function setUpPeer(server: TestServer, name: string): Promise<{ put: ApiResponse; path: string }> {
    const root = await setUp(server.url);
    expectOk(await root.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
    const path = '/api/workspaces/acme/auth/oauth';
    const { clientId: client_id, clientSecret: client_secret } = host;
    const config = Object.fromEntries(
      Object.entries(host.config).map(([member, url]) => [member, url.replace('127.0.0.1', name)]),
    );
    return {
      put: await root.put(`${path}/providers/github`, { client_id, client_secret, config }),
      path,
    };
  }

  it.each([
    ['is told nothing', {}],
    ['is told to', { egress: { private_hosts: 'deny' } }],
    ['is behind a proxy on this machine', { http: { host: '127.0.0.1', trust_proxy: true } }],
    ['lists another host', { egress: { private_hosts: ['idp.internal'] } }],
  ])('oauth.ssrf: keeps away from loopback when it %s', async (_what, config) => {
    const server = await startServer({ config });
    try {
      const { put } = await setUpPeer(server, 'localhost');
      expect([put.status, put.body.code]).toEqual([400, 'validation']);
    } finally {
      await server.stop();
    }
  });

  it('oauth.ssrf: reaches a listed host, and writes neither code nor state nor secret into its log', async () => {
    const server = await startServer({ config: { egress: { private_hosts: ['localhost'] } } });
    try {
      const { put, path } = await setUpPeer(server, 'localhost');
      expectOk(put);
      const anonymous = as(undefined, server.url);
      const begin = async () => {
        const query = `redirect_uri=${encodeURIComponent(redirectUri)}`;
        const { authorize_url } = expectOk(await anonymous.get(`${path}/github/authorize?${query}`));
        const emails = [{ email: freshEmail(), primary: true, verified: true }];
        return host.enter(authorize_url, { id: 7, emails });
      };
      const [back, wrong] = [await begin(), { ...await begin(), code: 'a code that is wrong' }];
      expectOk(await anonymous.post(`${path}/github/callback`, back));
      expect((await anonymous.post(`${path}/github/callback`, wrong)).status).toBe(401);
      expect(JSON.parse(await server.line('provider_failed'))).toMatchObject({
        level: 'warn',
        workspace: 'acme',
        provider: 'github',
        step: 'token',
        reason: 'bad_verification_code',
      });
      const log = server.output.join('\n');
      const verifier = host.exchanges.at(-1)?.get('code_verifier') ?? 'none';
      for (const text of [back.code, back.state, wrong.code, wrong.state, host.clientSecret, verifier]) {
        expect(log).not.toContain(text);
      }
    } finally {
      await server.stop();
    }
  });
});

describe('a provider that misbehaves', () => {
  const json = { 'Content-Type': 'application/json' };
  const elsewhere = createServer((_request, response) => {
    asked++;
    response.writeHead(200, json).end(JSON.stringify({ access_token: 'x' }));
  });
  let asked = 0;
  let there: string;

  beforeAll(async () => {
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    there = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
  });
  afterAll(() => void elsewhere.close());

  const misdeeds: Record<string, RequestListener> = {
    'says nothing': () => undefined,
    'says one byte after the other': (_request, response) => {
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    },
    'says too much': (_request, response) => {
      response.writeHead(200, json).end(JSON.stringify({ access_token: 'x', rest: 'x'.repeat(65_536) }));
    },
    'redirects to another host': (_request, response) => {
      response.writeHead(307, { Location: there }).end();
    },
    'redirects to the metadata of a cloud': (_request, response) => {
      response.writeHead(302, { Location: 'http://169.254.169.254/latest/meta-data/' }).end();
    },
    'fails': (_request, response) => {
      response.writeHead(500, json).end('{}');
    },
    'speaks no JSON': (_request, response) => {
      response.writeHead(200, json).end('access_token=x');
    },
    'hangs up': (request) => void request.socket.destroy(),
  };
  // Each of the slow ones takes its five seconds.
  const slow: Record<string, string[]> = {
    'says nothing': ['/token'],
    'says one byte after the other': ['/user/emails'],
  };
  const rows = Object.entries(misdeeds).flatMap(([what, listener]) =>
    (slow[what] ?? ['/token', '/user', '/user/emails']).map((path) => [what, path, listener] as const)
  );

  it.each(rows)('oauth.ssrf: ends a sign-in in time when it %s at %s', async (_what, path, listener) => {
    const bad = await startCodeHost();
    try {
      bad.spoil(path, listener);
      await useProvider(own, 'github', bad);
      const { authorize_url } = expectOk(await authorize(own, 'github'));
      const emails = [{ email: freshEmail(), primary: true, verified: true }];
      const started = performance.now();
      const response = await redeem(own, 'github', bad.enter(authorize_url, { id: 1, emails }));
      expect([response.status, response.body.code]).toEqual([503, 'unavailable']);
      expect(response.headers.get('Retry-After')).toBe('5');
      expect(performance.now() - started).toBeLessThan(8_000);
      expect(asked).toBe(0);
    } finally {
      await bad.close();
    }
  });

  it('oauth.ssrf: holds nobody else up', async () => {
    const bad = await startCodeHost();
    try {
      bad.spoil('/token', () => undefined);
      await useProvider(own, 'github', bad);
      const backs = await Promise.all(Array.from({ length: 20 }, async () => {
        const { authorize_url } = expectOk(await authorize(own, 'github'));
        return bad.enter(authorize_url, { id: 1, emails: [] });
      }));
      const hanging = Promise.all(backs.map((back) => redeem(own, 'github', back)));
      const started = performance.now();
      for (let count = 0; count < 20; count++) expectOk(await own.admin.get(`${own.path}/users`));
      expect(performance.now() - started).toBeLessThan(4_000);
      expect((await hanging).map(({ status }) => status)).toEqual(Array(20).fill(503));
    } finally {
      await bad.close();
    }
  });
});
