// Where calls of hook code are answered: how many at once, how many wait, and how much one run is told.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { CallHandler } from '../../../../api/hooks/rpc/call-handler.ts';
import type { Invocation } from '../../../../api/hooks/rpc/invocation.ts';
import type { CallFrame, CallResult } from '../../../../hook-runner/protocol.ts';

const call = (id: number): CallFrame => ({
  type: 'call',
  id,
  parent: 1,
  method: 'users.findOne',
  args: ['x'],
});

/** A desk for one invocation, whose calls are answered one by one by `responses`. */
function deskOf(report: (error: unknown) => void = (error) => expect.unreachable(String(error))) {
  const responses: PromiseWithResolvers<unknown>[] = [];
  const sent: CallResult[] = [];
  const full: boolean[] = [];
  const room = { is: true };
  const invocation: Invocation = {
    deadline: Infinity,
    take: () => true,
    fail: () => {},
    handleCall: () => {
      const response = Promise.withResolvers<unknown>();
      responses.push(response);
      return response.promise;
    },
  };
  const desk = new CallHandler({
    findInvocation: () => invocation,
    send: (result) => void sent.push(result),
    canSend: () => room.is,
    onFullChange: (isFull) => void full.push(isFull),
    report,
  });
  return { desk, responses, sent, full, room };
}

describe('a desk of calls', () => {
  it('answers eight at once, and another when one of them is done', async () => {
    const { desk, responses, sent } = deskOf();
    for (let id = 1; id <= 12; id++) desk.handle(call(id), 100);
    expect(responses.length).toBe(8);
    responses[3]?.resolve('found');
    await nextTurn();
    expect(sent).toEqual([{ type: 'result', id: 4, ok: true, value: 'found' }]);
    expect(responses.length).toBe(9);
  });

  it('does not count what waits for the runner itself', async () => {
    const { desk, responses } = deskOf();
    for (let id = 1; id <= 12; id++) desk.handle(call(id), 100);
    const waiting = Promise.withResolvers<void>();
    const aside = desk.withoutSlot(() => waiting.promise);
    expect(responses.length).toBe(9);
    responses[2]?.resolve(null);
    await nextTurn();
    expect(responses.length).toBe(10);
    waiting.resolve();
    await aside;
    responses[0]?.resolve(null);
    await nextTurn();
    expect(responses.length).toBe(10);
    responses[1]?.resolve(null);
    await nextTurn();
    expect(responses.length).toBe(11);
  });

  it('begins nothing while the runner has not read its responses', () => {
    const { desk, responses, room } = deskOf();
    room.is = false;
    desk.handle(call(1), 100);
    expect(responses.length).toBe(0);
    room.is = true;
    desk.proceed();
    expect(responses.length).toBe(1);
  });

  it('says that no more is to be read once 256 KiB of calls wait', async () => {
    const { desk, responses, full } = deskOf();
    for (let id = 1; id <= 9; id++) desk.handle(call(id), 262_144);
    expect(full.at(-1)).toBe(false);
    desk.handle(call(10), 1);
    expect(full.at(-1)).toBe(true);
    responses[0]?.resolve(null);
    await nextTurn();
    expect(full.at(-1)).toBe(false);
  });

  it('reports a failure of ours, and tells hook code nothing of it', async () => {
    const report = vi.fn();
    const { desk, responses, sent } = deskOf(report);
    desk.handle(call(1), 100);
    const failure = new Error('password authentication failed for role a_1');
    responses[0]?.reject(failure);
    await nextTurn();
    expect(report).toHaveBeenCalledExactlyOnceWith(failure);
    expect(JSON.stringify(sent)).toContain('"code":"internal"');
    expect(JSON.stringify(sent)).not.toContain('a_1');
  });

  it('tells one run 2 MiB, and does nothing for it after 100 calls', async () => {
    const { desk, responses, sent } = deskOf();
    for (let id = 1; id <= 101; id++) {
      desk.handle(call(id), 100);
      // With its quotes, each is 20 KiB: 2 MiB are 102 of them.
      responses[id - 1]?.resolve(id === 99 ? 'ä'.repeat(50_000) : 'x'.repeat(20_478));
      await nextTurn();
    }
    expect(responses.length).toBe(100);
    const refused = sent.flatMap((result) => result.ok ? [] : [[result.id, result.error.message]]);
    expect(refused).toEqual([
      [99, 'more than 2097152 bytes of results of $app in one run'],
      [100, 'more than 2097152 bytes of results of $app in one run'],
      [101, 'more than 100 calls of $app in one run'],
    ]);
  });
});
