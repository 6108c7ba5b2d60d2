// What is under way in a runner, apart from the runner itself.
import { describe, expect, it } from 'vitest';
import { type InvocationContext, Invocations } from '../../hook-runner/invocations.ts';
import { oldBytesOf } from '../harness/old-objects.ts';

function rethrow(_invocation: InvocationContext, thrown: unknown): never {
  throw thrown;
}

/** Invocations 1 to `count`, each under way until `end` is called with its id. */
function underWay(count: number) {
  const invocations = new Invocations();
  const begun: InvocationContext[] = [];
  const ends: (() => void)[] = [];
  const runs = Array.from({ length: count }, (_unused, index) =>
    invocations.run(index + 1, (invocation) => {
      begun.push(invocation);
      return new Promise((resolve) => ends.push(resolve));
    }, rethrow));
  const end = async (id: number) => {
    ends[id - 1]?.();
    await runs[id - 1];
  };
  return { invocations, begun, end };
}

describe('invocations of a runner', () => {
  it('end in any order, and none takes another with it', async () => {
    const { invocations, begun, end } = underWay(5);
    const ended = () => begun.filter((invocation) => invocation.ended).map(({ id }) => id);
    for (const id of [2, 5, 1]) await end(id);
    expect(ended()).toEqual([1, 2, 5]);
    expect(invocations.isIdle).toBe(false);
    invocations.cancel(3);
    invocations.cancel(3);
    invocations.cancel(2);
    expect(ended()).toEqual([1, 2, 3, 5]);
    await end(3);
    await end(4);
    expect(invocations.isIdle).toBe(true);
  });

  it('that are cancelled are idle from then on, and hear why', () => {
    const { invocations, begun } = underWay(2);
    const heard: string[] = [];
    for (const { id, onCancel } of begun.map((one) => ({ id: one.id, onCancel: one.onCancel.bind(one) }))) {
      onCancel(({ message }) => heard.push(`${id}: ${message}`));
    }
    invocations.cancel(2);
    invocations.cancel(1);
    expect(invocations.isIdle).toBe(true);
    expect(heard).toEqual([2, 1].map((id) => `${id}: cancelled: the server no longer waits for this call`));
  });

  it('can still be answered when their work throws, and are over then', async () => {
    const invocations = new Invocations();
    const heard: unknown[] = [];
    const fail = ({ id, ended }: InvocationContext, thrown: unknown) => void heard.push([id, ended, thrown]);
    await invocations.run(1, () => Promise.reject(new Error('thrown')), fail);
    expect(heard).toEqual([[1, false, new Error('thrown')]]);
    expect(invocations.isIdle).toBe(true);
  });

  it('leave nothing among the old objects', async () => {
    const invocations = new Invocations();
    const waiting: (() => void)[] = [];
    const most = await oldBytesOf(60_000, async (index) => {
      const kept = Array.from({ length: 100 }, () => index);
      void invocations.run(
        index,
        () => new Promise((resolve) => waiting.push(() => resolve(void kept.length))),
        rethrow,
      );
      if (waiting.length > 32) waiting.shift()?.();
      await Promise.resolve();
    });
    expect(most).toBeLessThan(4_194_304);
  });
});
