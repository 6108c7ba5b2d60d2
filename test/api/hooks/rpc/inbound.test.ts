// The bounds of what a runner may say.
import { expect, it } from 'vitest';
import { ProtocolError } from '../../../../api/hooks/rpc/frames.ts';
import { readMessage } from '../../../../api/hooks/rpc/inbound.ts';

const response = (status: unknown) => ({
  type: 'response',
  id: 1,
  status,
  headers: [],
  body: null,
  end: true,
});
const failure = (status: unknown) => ({
  type: 'result',
  id: 1,
  outcome: 'http_error',
  status,
  code: 'c',
  message: 'm',
});

it.each([199, 101, 600, 200.5, '200', null])(
  'rpc.confused-deputy: no response has the status %o',
  (status) => {
    expect(() => readMessage(response(status))).toThrow(ProtocolError);
  },
);

it.each([399, 200, 600, '400'])('rpc.confused-deputy: no error has the status %o', (status) => {
  expect(() => readMessage(failure(status))).toThrow(ProtocolError);
});

it('all others have', () => {
  for (const status of [200, 599]) expect(readMessage(response(status))).toMatchObject({ status });
  for (const status of [400, 599]) expect(readMessage(failure(status))).toMatchObject({ status });
});
