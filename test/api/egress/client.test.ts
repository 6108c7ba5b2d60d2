// Requests to other servers: the addresses that they reach, and the responses that they accept.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Egress } from '../../../api/egress/client.ts';
import { ask, type EgressSetting, testEgress } from '../../harness/egress.ts';

const seen: string[] = [];
const opened: Egress[] = [];
let server: Server;
let port: number;

const listeners: Record<string, RequestListener> = {
  '/': (request, response) => response.end(JSON.stringify(request.headers)),
  // The next request is another connection's.
  '/last': (_request, response) => response.setHeader('Connection', 'close').end(),
  '/exact': (_request, response) => response.end(Buffer.alloc(1_000)),
  '/long': (_request, response) => response.end(Buffer.alloc(1_001)),
  '/endless': (_request, response) => {
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384))) { /* until it is full */ }
    };
    response.on('drain', write);
    write();
  },
  '/silent': () => undefined,
  '/trickle': (_request, response) => {
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  },
  '/broken': (request) => request.socket.destroy(),
  // Chunks of one byte, each with an extension (RFC 9112 section 7.1.1) that is no part of the body.
  '/sparse': ({ socket }) => {
    const chunks = `1;${'e'.repeat(32_768)}\r\nx\r\n`.repeat(20);
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  },
};

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const listener = listeners[request.url ?? ''];
    if (listener === undefined) response.writeHead(404).end();
    else listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  seen.length = 0;
  await Promise.all(opened.splice(0).map((egress) => egress.close()));
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

function egressWith(setting: EgressSetting = {}): Egress {
  const egress = testEgress(setting);
  opened.push(egress);
  return egress;
}

const here = (path = '/', host = '127.0.0.1') => `http://${host}:${port}${path}`;

describe('a literal address', () => {
  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::1]',
  ];

  it.each([...spellings, 'localhost', 'a.localhost', 'localhost.', '0.0.0.0', '[::]'])(
    'oauth.ssrf: http://%s is refused before anything is sent where private hosts are denied',
    async (host) => {
      expect(await ask(egressWith({ hosts: 'deny' }), here('/', host))).toBe('refused');
      expect(await ask(egressWith({ hosts: 'allow', ownPorts: [port] }), here('/', host))).toBe('refused');
      expect(seen).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '127.1', '2130706433', 'localhost'])(
    'reaches loopback as %s when it is told to',
    async (host) => {
      expect(await ask(egressWith(), here('/', host))).toBe(200);
    },
  );

  it.each(['10.0.0.1', '192.168.0.1', '[fd12::1]', '169.254.169.254'])(
    'oauth.ssrf: %s is never loopback',
    async (host) => {
      expect(await ask(egressWith(), `http://${host}/`)).toBe('refused');
    },
  );

  it('oauth.ssrf: link-local stays out of reach where all private hosts are allowed', async () => {
    expect(await ask(egressWith({ hosts: 'allow' }), 'http://169.254.169.254/')).toBe('refused');
    expect(await ask(egressWith({ hosts: 'allow' }), here())).toBe(200);
  });

  it('is reached where its host, or its host and port, is listed', async () => {
    expect(await ask(egressWith({ hosts: ['127.0.0.1'] }), here())).toBe(200);
    expect(await ask(egressWith({ hosts: [`127.0.0.1:${port}`] }), here())).toBe(200);
    expect(await ask(egressWith({ hosts: ['127.0.0.1:1'] }), here())).toBe('refused');
    expect(await ask(egressWith({ hosts: ['10.0.0.1'] }), here())).toBe('refused');
  });
});

describe('a name', () => {
  it.each([['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['169.254.169.254'], ['10.1.2.3'], [
    '1.1.1.1',
    '127.0.0.1',
  ]])(
    'oauth.ssrf: is refused that resolves to %s',
    async (...addresses) => {
      const connected = vi.fn();
      server.once('connection', connected);
      const egress = egressWith({ hosts: 'deny', resolve: () => Promise.resolve(addresses) });
      expect(await ask(egress, here('/', 'idp.example'))).toBe('refused');
      expect(seen).toEqual([]);
      expect(connected).not.toHaveBeenCalled();
    },
  );

  it('oauth.ssrf: is checked again for every connection, by the address that is connected to', async () => {
    const turns = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1'], ['169.254.169.254']];
    const egress = egressWith({ resolve: () => Promise.resolve(turns.shift() ?? []) });
    const outcomes: (number | string)[] = [];
    for (const _turn of [1, 2, 3, 4]) outcomes.push(await ask(egress, here('/last', 'rebinding.example')));
    expect(outcomes).toEqual([200, 'refused', 200, 'refused']);
  });

  it('is unreachable when it has no address', async () => {
    expect(await ask(egressWith({ resolve: () => Promise.resolve([]) }), 'http://nowhere.example/')).toBe(
      'unreachable',
    );
  });
});

describe('a URL', () => {
  it.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'gopher://127.0.0.1/', 'http://user:secret@127.0.0.1/'])(
    'oauth.ssrf: %s is refused',
    async (url) => {
      expect(await ask(egressWith({ hosts: 'allow' }), url)).toBe('refused');
    },
  );

  it('is refused where the caller does not permit it', async () => {
    const permits = ({ host }: URL) => host === 'elsewhere.example';
    expect(await ask(egressWith(), here(), { isAllowed: permits })).toBe('refused');
    expect(seen).toEqual([]);
  });
});

describe('a bad server', () => {
  it.each([['/silent'], ['/trickle'], ['/', 'unanswered.example']])(
    'oauth.ssrf: is given up in time at %s',
    async (...at) => {
      const egress = egressWith({ resolve: () => Promise.withResolvers<string[]>().promise });
      expect(await ask(egress, here(...at), { timeoutMs: 300 })).toBe('timeout');
    },
  );

  it.each(['/long', '/endless'])('oauth.ssrf: is cut off at %s', async (path) => {
    expect(await ask(egressWith(), here(path))).toBe('too_large');
  });

  it('that keeps many requests waiting does not block those of others', async () => {
    const egress = egressWith();
    const waiting = Array.from({ length: 100 }, () => ask(egress, here('/silent'), { timeoutMs: 5_000 }));
    expect(await ask(egress, here())).toBe(200);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['timeout']));
  });

  it('may use every byte that it is given', async () => {
    expect(await ask(egressWith(), here('/exact'))).toBe(200);
  });

  it('makes the client keep no more than the body', async () => {
    const { body } = await egressWith().open({
      method: 'GET',
      url: new URL(here('/sparse')),
      maxBytes: 1_000,
    });
    const kept: number[] = [];
    let length = 0;
    for await (const part of body) {
      kept.push(part.buffer.byteLength);
      length += part.byteLength;
    }
    expect(length).toBe(20);
    expect(Math.max(...kept)).toBeLessThanOrEqual(20);
  });

  it('is unreachable when it hangs up', async () => {
    expect(await ask(egressWith(), here('/broken'))).toBe('unreachable');
  });

  it('is left when the caller aborts', async () => {
    const signal = AbortSignal.abort();
    expect(await ask(egressWith(), here('/silent'), { signal })).toBe('aborted');
  });
});

describe('what is sent', () => {
  it('has no headers of the connection from the caller', async () => {
    const headers = [
      'Connection',
      'Content-Length',
      'Expect',
      'HOST',
      'Keep-Alive',
      'Proxy-Authorization',
      'Proxy-Connection',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Upgrade',
    ].map((name) => [name, '99'] as const);
    const { body } = await egressWith().send({
      method: 'GET',
      url: new URL(here()),
      headers: [...headers, ['X-Own', 'yes']],
      maxBytes: 1_000,
    });
    expect(JSON.parse(body.toString())).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
      'x-own': 'yes',
    });
  });

  it('is all of the URL but its fragment', async () => {
    await ask(egressWith(), here('/a/b?c=d&e#f'));
    expect(seen).toEqual(['GET /a/b?c=d&e']);
  });

  it.each(['CONNECT', 'trace', 'TRACK'])('never is a %s', async (method) => {
    expect(await ask(egressWith(), here(), { method })).toBe('refused');
  });
});
