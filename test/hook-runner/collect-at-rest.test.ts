// When a runner collects garbage, with the clock and the collector in the test's hands; and that real runners do, while
// their hook files find no collector.
import { describe, expect, it } from 'vitest';
import { IdleCollector } from '../../hook-runner/collect-at-rest.ts';
import { startForTest } from './runner.ts';

/** A rest whose time passes when the test says so. */
function make() {
  const state = { isIdle: true, collections: 0, waiting: [] as (() => void)[] };
  const rest = new IdleCollector({
    isIdle: () => state.isIdle,
    collect: () => void state.collections++,
    later: (run, milliseconds) => {
      expect(milliseconds).toBe(1_000);
      return state.waiting.push(run);
    },
  });
  return {
    state,
    work: (times: number) => {
      for (let n = 0; n < times; n++) rest.noteInvocation();
    },
    /** Answers how many collections there have been by then. */
    passSecond: () => {
      for (const run of state.waiting.splice(0)) run();
      return state.collections;
    },
  };
}

describe('the rest of a runner', () => {
  it('is waited for after the load, and is a second without a call', () => {
    const { state, work, passSecond } = make();
    expect(passSecond()).toBe(0);
    work(1);
    expect(state.waiting).toHaveLength(1);
    work(5);
    expect(passSecond()).toBe(0);
    expect(passSecond()).toBe(1);
    expect(state.waiting).toEqual([]);
  });

  it('does not begin while an invocation is under way', () => {
    const { state, work, passSecond } = make();
    work(1);
    state.isIdle = false;
    expect([passSecond(), passSecond()]).toEqual([0, 0]);
    state.isIdle = true;
    expect(passSecond()).toBe(1);
  });

  it('ends in a collection once for every 1,000 calls at most, so nobody gains by causing some', () => {
    const { state, work, passSecond } = make();
    work(1);
    passSecond();
    for (let n = 1; n < 1_000; n++) {
      work(1);
      passSecond();
    }
    expect(state.collections).toBe(1);
    work(1);
    expect(passSecond()).toBe(2);
    work(50_000);
    expect(state.waiting).toHaveLength(1);
    expect([passSecond(), passSecond(), passSecond()]).toEqual([2, 3, 3]);
  });
});

describe('a real runner', () => {
  it('collects what its start has left, also when a call that was cancelled never ends', async () => {
    const runner = await startForTest();
    const { errors } = await runner.load({
      'a.js': `let start = {};
        const left = new WeakRef(start);
        // By then it is old, and no collection of young objects finds that it is garbage.
        for (let n = 0; n < 100; n++) new Array(10_000).fill(n);
        start = null;
        const timer = setInterval(() => {
          if (left.deref() !== undefined) return;
          console.log('garbage collected');
          clearInterval(timer);
        }, 50);
        onRecordBeforeCreate('orders', () => new Promise(() => {}));`,
    });
    expect(errors).toEqual([]);
    runner.send({ type: 'cancel', id: runner.start('before_create') });
    expect((await runner.log()).message).toBe('garbage collected');
  });

  it('hook.globals: shows hook files no collector, by whichever way they look', async () => {
    const runner = await startForTest();
    const { errors } = await runner.load({
      'a.js':
        `const windows = [globalThis, new Function('return this')(), (0, eval)('this'), Function('return globalThis')(),
          setTimeout.constructor('return this')(), Object.getPrototypeOf(async () => {}).constructor('return this')];
        const everything = (object) => object === null ? [] :
          [...Reflect.ownKeys(object).map(String), ...everything(Object.getPrototypeOf(object))];
        routerAdd('GET', '/gc', async () => {
          windows[5] = await (0, windows[5])();
          return {
            same: windows.every((window) => window === globalThis),
            named: windows.flatMap(everything).filter((name) => /^(gc|__?gc|externalizeString)$/i.test(name)),
            there: ['gc' in globalThis, typeof gc, typeof ShadowRealm],
            job: cronAdd.toString().includes('native'),
          };
        });`,
    });
    expect(errors).toEqual([]);
    const { body } = await runner.next('response', runner.request('GET /gc'));
    const found: unknown = JSON.parse(body !== null && 'text' in body ? body.text : '');
    expect(found).toEqual({
      same: true,
      named: [],
      there: [false, 'undefined', 'undefined'],
      job: false,
    });
  });

  it('hook.globals: lets hook files replace the name that it had the collector under', async () => {
    const runner = await startForTest();
    const { errors } = await runner.load({
      'a.js': `globalThis.cronAdd = 5; routerAdd('GET', '/x', () => cronAdd);`,
    });
    expect(errors).toEqual([]);
    expect(await runner.next('response', runner.request('GET /x'))).toMatchObject({ body: { text: '5' } });
  });
});
