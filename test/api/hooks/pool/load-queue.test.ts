// Which load an ask gets, and that there is one at a time.
import { expect, it } from 'vitest';
import { type LoadCause, LoadQueue } from '../../../../api/hooks/pool/load-queue.ts';
import type { LoadResult } from '../../../../api/hooks/ports.ts';

/** Loads that end when the test says so. */
function queue() {
  const begun: { cause: LoadCause; done: PromiseWithResolvers<LoadResult> }[] = [];
  let running = 0;
  const loads = new LoadQueue(async (cause) => {
    expect(++running).toBe(1);
    const done = Promise.withResolvers<LoadResult>();
    begun.push({ cause, done });
    return await done.promise.finally(() => running--);
  });
  const end = (name: string) => begun.at(-1)?.done.resolve({ loaded: [name], errors: [] });
  return { loads, begun, end, causes: () => begun.map(({ cause }) => cause) };
}

it('lets all that ask during a load share the next one', async () => {
  const { loads, end, causes } = queue();
  const first = loads.ask('needed');
  expect(loads.underWay).toBe(first);
  const second = loads.ask('changed');
  expect(loads.ask('changed')).toBe(second);
  expect(loads.underWay).toBe(second);
  expect(causes()).toEqual(['needed']);
  end('first');
  expect(await first).toEqual({ loaded: ['first'], errors: [] });
  await Promise.resolve();
  expect(causes()).toEqual(['needed', 'changed']);
  end('second');
  expect(await second).toEqual({ loaded: ['second'], errors: [] });
  expect(loads.underWay).toBeUndefined();
});

it('does what somebody said, also when a change was there before them', async () => {
  const { loads, end, causes } = queue();
  const first = loads.ask('asked');
  const second = loads.ask('changed');
  expect(loads.ask('asked')).toBe(second);
  expect(loads.ask('changed')).toBe(second);
  end('first');
  await first;
  await Promise.resolve();
  expect(causes()).toEqual(['asked', 'asked']);
  end('second');
  await second;
});

it('begins the next one also after a load that throws', async () => {
  const { loads, begun, end, causes } = queue();
  const first = loads.ask('asked');
  const second = loads.ask('changed');
  begun[0]?.done.reject(new Error('no database'));
  await expect(first).rejects.toThrow('no database');
  await Promise.resolve();
  expect(causes()).toEqual(['asked', 'changed']);
  end('second');
  await second;
});

it('keeps one at a time when somebody asks in the instant between two', async () => {
  const { loads, begun, end, causes } = queue();
  const first = loads.ask('asked');
  // Before `second` is asked for: it goes on before that begins.
  const late = first.then(() => loads.ask('changed'));
  const second = loads.ask('asked');
  end('first');
  await first;
  await Promise.resolve();
  end('second');
  expect(await second).toEqual({ loaded: ['second'], errors: [] });
  expect(await late).toEqual({ loaded: ['second'], errors: [] });
  expect(begun).toHaveLength(2);
  expect(causes()).toEqual(['asked', 'asked']);
});
