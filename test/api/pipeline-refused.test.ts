// Requests beside one that Node or HTTP itself refuses: raw connections against a real server.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { serverUrl } from '../harness/api.ts';

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const tunnel = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n';

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(serverUrl());
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  return socket;
}

it.each([
  ['at once', tunnel],
  ['with a body under way', tunnel.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\nhalf')],
  ['behind another request', get('/readyz') + tunnel],
])(
  'a client that asks for a tunnel %s, and breaks off, ends no connection but its own',
  async (_how, bytes) => {
    const beside = await open();
    for (let round = 0; round < 5; round++) {
      const socket = await open();
      socket.write(bytes);
      if (round > 0) await once(socket, 'data');
      socket.resetAndDestroy();
      beside.write(get('/readyz'));
      const [answer] = await once(beside, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    }
    beside.destroy();
  },
);
