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

const call = (as: unknown) => ({
  type: 'call',
  id: 1,
  parent: 1,
  method: 'records.count',
  args: ['a', {}],
  as,
});

it.each(['admin', true, [], {}, { id: 1, role: 'user', app: null }, { id: 'x', role: 'user' }])(
  'rpc.confused-deputy: no call acts for %o, which is no caller',
  (as) => {
    expect(() => readMessage(call(as))).toThrow(ProtocolError);
  },
);

it('a call acts for a caller, for one without a token, or for the app', () => {
  const user = { id: 'x', role: 'user', app: null };
  expect(readMessage(call({ ...user, email: 'left out' }))).toMatchObject({ as: user });
  expect(readMessage(call(null))).toMatchObject({ as: null });
  expect(readMessage(call(undefined))).not.toHaveProperty('as');
});
