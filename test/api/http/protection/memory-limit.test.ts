// What one address may keep in the memory of a server, as it is counted.
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { memoryLimit } from '../../../../api/http/protection/memory-limit.ts';

const unit = 65_536;
const full = expect.objectContaining({ code: 'too_many_requests' });

/** A response on a connection of its own. */
function openResponse() {
  const socket = new Socket();
  return { socket, response: new ServerResponse(new IncomingMessage(socket)) };
}

it('auth.ip-key: the addresses of an IPv6 /64 hold together what one may', () => {
  const hold = memoryLimit(2 * unit);
  hold(openResponse().response, '2001:db8::1', unit);
  hold(openResponse().response, '2001:db8::2', unit);
  expect(() => hold(openResponse().response, '2001:db8::3', unit)).toThrow(full);
  hold(openResponse().response, '2001:db8:0:1::3', unit);
});

it('all that a request reserved is free once its response is sent', () => {
  const hold = memoryLimit(3 * unit);
  const { response } = openResponse();
  hold(response, '192.0.2.1', unit);
  hold(response, '192.0.2.1', unit);
  hold(openResponse().response, '192.0.2.1', unit);
  expect(() => hold(openResponse().response, '192.0.2.1', unit)).toThrow(full);
  response.emit('close');
  response.emit('close');
  hold(openResponse().response, '192.0.2.1', 2 * unit);
  expect(() => hold(openResponse().response, '192.0.2.1', unit)).toThrow(full);
});

it('or once its connection is closed, even for a response that had to wait', async () => {
  const hold = memoryLimit(unit);
  const { socket, response } = openResponse();
  hold(response, '192.0.2.1', unit);
  socket.destroy();
  await once(socket, 'close');
  hold(openResponse().response, '192.0.2.1', unit);
});

it('is not counted for a connection that is gone already', async () => {
  const hold = memoryLimit(unit);
  const { socket, response } = openResponse();
  socket.destroy();
  await once(socket, 'close');
  hold(response, '192.0.2.1', unit);
  hold(openResponse().response, '192.0.2.1', unit);
});

it('one request alone holds what it needs', () => {
  const hold = memoryLimit(2 * unit);
  const { response } = openResponse();
  hold(response, '192.0.2.1', unit);
  hold(response, '192.0.2.1', 2 * unit);
  expect(() => hold(openResponse().response, '192.0.2.1', unit)).toThrow(full);
});
