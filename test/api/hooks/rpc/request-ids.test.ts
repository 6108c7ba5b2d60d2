// Which requests the lines of a runner belong to.
import { expect, test } from 'vitest';
import { RequestIds } from '../../../../api/hooks/rpc/request-ids.ts';

test('the request of an invocation is remembered', () => {
  const requests = new RequestIds();
  requests.add(1, 'first');
  requests.add(2, 'second');
  expect(requests.find(1)).toBe('first');
  expect(requests.find(2)).toBe('second');
  expect(requests.find(3)).toBe(null);
});

test('the newest 256 are remembered, whatever ids others than invocations had between them', () => {
  const requests = new RequestIds();
  // Every third id is that of a ping.
  const ids = Array.from({ length: 1_500 }, (_unused, index) => index + 1).filter((id) => id % 3 !== 0);
  for (const id of ids) requests.add(id, `request ${id}`);
  for (const id of ids.slice(-256)) expect(requests.find(id)).toBe(`request ${id}`);
  for (const id of ids.slice(0, -256)) expect(requests.find(id)).toBe(null);
});
