// How long a body may take: a minute, and for an upload as long as it goes on coming.
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitBodyTime, noteProgress } from '../../../../api/http/protection/body-time.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A request with these headers on a server that limits the time of bodies, and what that server says of it. */
function arrive(headers: Record<string, string>) {
  const server = createServer();
  limitBodyTime(server);
  const expired = vi.fn();
  server.on('clientError', (error: NodeJS.ErrnoException) => void expired(error.code));
  const socket = new Socket();
  const request = new IncomingMessage(socket);
  const response = new ServerResponse(request);
  Object.assign(request.headers, headers);
  server.emit('request', request, response);
  const end = () => {
    response.end();
    response.emit('finish');
  };
  return { request, end, socket, expired };
}

it.each([{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }])('%o: a minute', (headers) => {
  const { expired } = arrive(headers);
  vi.advanceTimersByTime(59_999);
  expect(expired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(expired).toHaveBeenCalledExactlyOnceWith('ERR_HTTP_REQUEST_TIMEOUT');
});

it('an upload has as long as some of it comes every half minute, and no longer', () => {
  const { request, expired } = arrive({ 'content-length': '5' });
  for (let times = 0; times < 10; times++) {
    noteProgress(request);
    vi.advanceTimersByTime(29_999);
  }
  expect(expired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(expired).toHaveBeenCalledOnce();
});

it.each([{}, { 'content-length': '0' }])('%o: there is none to wait for', (headers) => {
  expect(arrive(headers).expired).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

it('nothing is waited for once the request is over', () => {
  const { request } = arrive({ 'content-length': '5' });
  noteProgress(request);
  request.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});

it('progress that its reader tells of later than that begins no new time: the connection serves other requests', () => {
  const { request, end, socket } = arrive({ 'content-length': '5' });
  request.complete = true;
  request.emit('close');
  noteProgress(request);
  end();
  vi.advanceTimersByTime(60_000);
  expect(socket.destroyed).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

it('the rest of one that has its response gets ten seconds, and no second response', () => {
  const { end, socket, expired } = arrive({ 'content-length': '5' });
  vi.advanceTimersByTime(59_000);
  end();
  vi.advanceTimersByTime(9_999);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(socket.destroyed).toBe(true);
  expect(expired).not.toHaveBeenCalled();
});

it('one that was read before the response has no timeout any more', () => {
  const { request, end } = arrive({ 'content-length': '5' });
  request.complete = true;
  request.emit('close');
  end();
  expect(vi.getTimerCount()).toBe(0);
});
