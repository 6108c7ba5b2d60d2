// Attempts to reach the network, or open descriptors: 66 to 96.
import { type Attempt, numbered } from './attempt.ts';

/** What ends with an event of one of these names, instead of a promise. */
const settles = (make: string, good: string, bad: string) =>
  `(async () => {
    const it = ${make};
    return await new Promise((yes, no) => {
      it.on('${good}', () => yes('${good}'));
      it.on('${bad}', no);
    });
  })()`;

/** Out, in, and names. */
export const networkAttempts: readonly Attempt[] = numbered(66, [
  ['fetch of this machine', `fetch('http://127.0.0.1:' + PORT).then((r) => r.text())`],
  ['Deno.connect', `Deno.connect({ hostname: '127.0.0.1', port: PORT }).then((c) => typeof c)`],
  ['Deno.listen', `typeof Deno.listen({ port: 0 })`],
  ['Deno.listenTls', `typeof Deno.listenTls({ port: 0, cert: '', key: '' })`],
  ['Deno.serve', `typeof Deno.serve({ port: 0, onListen() {} }, () => new Response())`],
  [
    'Deno.serve on a path',
    `typeof Deno.serve({ path: SINK + '/serve', onListen() {} }, () => new Response())`,
  ],
  ['Deno.resolveDns', `Deno.resolveDns('example.com', 'A')`],
  [
    'Deno.connect to a Unix socket',
    `Deno.connect({ transport: 'unix', path: DIR + '/sock' }).then((c) => typeof c)`,
  ],
  [
    'Deno.connect to an abstract socket',
    `Deno.connect({ transport: 'unix', path: '\\0bait' }).then((c) => typeof c)`,
  ],
  [
    'WebSocket',
    `new Promise((yes, no) => {
      const it = new WebSocket('ws://127.0.0.1:' + PORT);
      it.onopen = () => yes('open');
      it.onerror = () => no(new Error('closed'));
    })`,
  ],
  [
    'EventSource',
    `new Promise((yes, no) => {
      const it = new EventSource('http://127.0.0.1:' + PORT);
      it.onopen = () => yes('open');
      it.onerror = () => { it.close(); no(new Error('closed')); };
    })`,
  ],
  [
    'fetch through a Unix socket',
    `fetch('http://bait/', { client: Deno.createHttpClient({ proxy: { transport: 'unix', path: DIR + '/sock' } }) }).then((r) => r.text())`,
  ],
  ['net.connect', settles(`(await import('node:net')).connect(PORT, '127.0.0.1')`, 'connect', 'error')],
  ['net.createServer', settles(`(await import('node:net')).createServer().listen(0)`, 'listening', 'error')],
  [
    'net.createServer on a path',
    settles(`(await import('node:net')).createServer().listen(SINK + '/net')`, 'listening', 'error'),
  ],
  [
    'the pipe binding binds',
    `(() => { const { Pipe } = process.binding('pipe_wrap'); return new Pipe(1).bind(SINK + '/pipe'); })()`,
  ],
  [
    'the TCP binding connects',
    `(() => { const { TCP, TCPConnectWrap } = process.binding('tcp_wrap'); return new TCP(0).connect(new TCPConnectWrap(), '127.0.0.1', PORT); })()`,
  ],
  [
    'the UDP binding sends',
    `(() => { const { UDP, SendWrap } = process.binding('udp_wrap'); return new UDP().send(new SendWrap(), [new Uint8Array(1)], 1, PORT, '127.0.0.1', false); })()`,
  ],
  ['the resolver binding', `typeof process.binding('cares_wrap').getaddrinfo`],
  ['dns.lookup', `(await import('node:dns/promises')).lookup('localhost')`],
  ['dns.resolve4', `(await import('node:dns/promises')).resolve4('example.com')`],
  [
    'dgram',
    `(async () => {
      const it = (await import('node:dgram')).createSocket('udp4');
      return await new Promise((yes, no) => {
        it.on('error', no);
        it.send('x', PORT, '127.0.0.1', (error) => error ? no(error) : yes('sent'));
      });
    })()`,
  ],
  ['http.get', settles(`(await import('node:http')).get('http://127.0.0.1:' + PORT)`, 'response', 'error')],
  [
    'http2.connect',
    settles(`(await import('node:http2')).connect('http://127.0.0.1:' + PORT)`, 'connect', 'error'),
  ],
  ['tls.connect', settles(`(await import('node:tls')).connect(PORT, '127.0.0.1')`, 'secureConnect', 'error')],
  ['inspector.open', `(await import('node:inspector')).open(0)`],
  [
    'inspector.Session',
    `(await import('node:inspector').then(({ Session }) => { const s = new Session(); s.connect(); return new Promise((yes) => s.post('Runtime.evaluate', { expression: '1' }, (e, r) => yes(typeof r))); }))`,
  ],
  [
    'a socket of descriptor 3',
    `(async () => { const { Socket } = await import('node:net'); return new Socket({ fd: 3, readable: true, writable: true }).write('forged'); })()`,
  ],
  ['tty.ReadStream of descriptor 0', `typeof new (await import('node:tty')).ReadStream(0)`],
  ['Deno.stdout', `Deno.stdout.write(new TextEncoder().encode('\\n'))`],
  ['Deno.stdin', `Deno.stdin.readSync(new Uint8Array(8)) === null`],
]);
