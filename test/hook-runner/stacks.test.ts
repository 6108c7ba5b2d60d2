// Stacks of errors show hook code and its log what is the author's own, and nothing of the machine that it runs on.
import { describe, expect, it } from 'vitest';
import { startForTest, type TestRunner } from './runner.ts';

const response = async (runner: TestRunner, path: string): Promise<unknown> => {
  const { body } = await runner.next('response', runner.request(`GET ${path}`));
  return JSON.parse(body !== null && 'text' in body ? body.text : '');
};

const run = async (source: string) => {
  const runner = await startForTest();
  expect((await runner.load({ 'a.ts': source })).errors).toEqual([]);
  return runner;
};

/** Called by the runner, and by way of it: frames of its own are below the author's and between them. */
const source = `
  const fail = (): never => { throw new TypeError('wrong'); };
  routerAdd('GET', '/stack', async () => {
    await null;
    const stacks: unknown[] = [new Error('here').stack];
    for (const bad of [() => fetch(5), () => $app.records.findOne(5, 5), () => routerAdd('GET', 5, 5), fail]) {
      try { await bad(); } catch (error) { stacks.push((error as Error).stack); }
    }
    return stacks;
  });
  routerAdd('GET', '/sites', () => {
    Error.prepareStackTrace = (_, sites) => sites.flatMap((site) =>
      [String(site), site.getFileName(), site.getScriptNameOrSourceURL(), site.getEvalOrigin()]);
    return new Error('here').stack;
  });
  routerAdd('GET', '/log', () => {
    const wrong = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'E1' });
    console.error('it went', wrong);
    console.log(wrong.stack);
    $app.log.warn(String(wrong.stack), { stack: wrong.stack, nested: [{ stack: wrong.stack }] });
    $app.log.info('a line    at file:///somewhere/else.js:1:2', { path: '    at (file:///somewhere/else.js:1:2)' });
    console.log({ wrong });
    return 'done';
  });`;

/** Line 3 is the first that throws. */
const failing = `
  const inner = () => {
    throw new RangeError('too deep');
  };
  routerAdd('GET', '/cause', () => {
    try { inner(); } catch (cause) {
      throw new Error('cannot be saved', { cause: new Error('no room', { cause }) });
    }
  });
  routerAdd('GET', '/any', () => Promise.any([1, 2].map(async (n) => { throw new Error('try ' + n); })));
  routerAdd('GET', '/ring', () => {
    const error = new Error('again');
    throw Object.assign(error, { cause: error });
  });
  routerAdd('GET', '/rings', () => {
    const error = new Error('here', { cause: new Error('there') });
    error.cause.cause = error;
    throw error;
  });
  routerAdd('GET', '/nothing', () => { throw undefined; });
  routerAdd('GET', '/data', () => { throw new Error('refused', { cause: { code: 7 } }); });
  routerAdd('GET', '/object', () => { throw { code: 7 }; });
  routerAdd('GET', '/getter', () => {
    throw Object.defineProperty(new Error('odd'), 'cause', { get() { throw new Error('no'); } });
  });
  routerAdd('GET', '/long', () => { throw new Error('x'.repeat(3_000)); });
  routerAdd('GET', '/deep', () => {
    Error.stackTraceLimit = 300;
    const dig = (left: number): number => left === 0 ? inner() : dig(left - 1) + 1;
    dig(300);
  });
  routerAdd('GET', '/chain', () => {
    let error = new Error('cause 6');
    for (let n = 5; n >= 0; n--) error = new Error('cause ' + n, { cause: error });
    throw error;
  });
  onRecordBeforeDelete('orders', () => { throw new Error('x'.repeat(3_000)); });
  onRecordBeforeCreate('orders', () => { throw { secret: 's' }; });
  onRecordBeforeUpdate('orders', () => { throw null; });`;

async function faultsIn(runner: TestRunner, path: string) {
  const result = await runner.next('result', runner.request(`GET ${path}`));
  return result.outcome === 'failed' ? result.faults : [];
}

describe('the fault of a handler', () => {
  it('has the causes of its error, and where they came from', async () => {
    const runner = await run(failing);
    const faultsOf = (path: string) => faultsIn(runner, path);
    expect(await faultsOf('/cause')).toMatchObject([{
      message: 'Error: cannot be saved (cause: Error: no room) (cause: RangeError: too deep)',
      line: 7,
      stack: expect.stringMatching(
        /^at a\.ts:7:13\nCaused by: Error: no room\nat a\.ts:7:\d+\nCaused by: RangeError: too deep\nat inner \(a\.ts:3:11\)\n/,
      ),
    }]);
    expect(await faultsOf('/any')).toMatchObject([{
      message: 'AggregateError: All promises were rejected (cause: Error: try 1)',
    }]);
    // What says nothing more is not said.
    expect(await faultsOf('/ring')).toMatchObject([{ message: 'Error: again' }]);
    expect(await faultsOf('/rings')).toMatchObject([{
      message: 'Error: here (cause: Error: there)',
    }]);
    expect(await faultsOf('/data')).toMatchObject([{ message: 'Error: refused (cause: {"code":7})' }]);
    expect(await faultsOf('/object')).toMatchObject([{ message: 'GET /object: {"code":7}', stack: null }]);
    expect(await faultsOf('/nothing')).toMatchObject([{ message: 'GET /nothing: undefined', stack: null }]);
    expect(await faultsOf('/getter')).toMatchObject([{ message: 'Error: odd' }]);
  });

  it('is no longer than anybody reads: 2,000 characters, a stack of 4,000, four causes', async () => {
    const runner = await run(failing);
    const [long] = await faultsIn(runner, '/long');
    expect(long?.message).toBe(`Error: ${'x'.repeat(1_993)}`);
    const [deep] = await faultsIn(runner, '/deep');
    expect(deep?.stack).toHaveLength(4_000);
    const [chain] = await faultsIn(runner, '/chain');
    expect(chain?.message).toMatch(/^Error: cause 0 .*cause 4\)$/);
    expect(await runner.next('result', runner.start('before_delete'))).toMatchObject({
      outcome: 'veto',
      message: 'x'.repeat(2_000),
    });
  });

  it('shows the members of a thrown object, or that it was nothing, to its author, not to the caller', async () => {
    const runner = await run(failing);
    expect(await runner.next('result', runner.start('before_create'))).toMatchObject({
      outcome: 'veto',
      message: 'a hook refused the write',
      fault: { message: '{"secret":"s"}' },
    });
    expect(await runner.next('result', runner.start('before_update'))).toMatchObject({
      outcome: 'veto',
      message: 'a hook refused the write',
      fault: { message: 'null' },
    });
  });
});

describe('the stack of an error', () => {
  it('names no folder of this machine, however it is asked for', async () => {
    const runner = await run(source);
    const stacks = await response(runner, '/stack');
    expect(stacks).toHaveLength(5);
    for (const stack of [stacks, await response(runner, '/sites')].flat(2)) {
      expect(String(stack)).not.toContain('bulkhead-runner-');
      expect(String(stack)).not.toContain('/work/');
    }
    expect(JSON.stringify(stacks)).toContain('file:///hooks/a.ts:2:');
  });
});

describe('the log', () => {
  it('has of a stack the lines of the author, of Deno and of the language', async () => {
    const runner = await run(source);
    expect(await response(runner, '/log')).toBe('done');
    const [error, text, warning, other, member] = [
      await runner.log(),
      await runner.log(),
      await runner.log(),
      await runner.log(),
      await runner.log(),
    ];
    for (const line of [error, text, warning, member]) {
      const all = JSON.stringify(line);
      expect(all).toContain('file:///hooks/a.ts:17:');
      expect(all).not.toMatch(/main\.js|bulkhead-runner-|proc|AsyncLocalStorage/);
    }
    expect(error?.message).toContain("{\n  code: 'E1',");
    expect(error?.message).toContain('[cause]: Error: inner\n');
    expect(warning?.fields).toEqual({ stack: warning?.message, nested: [{ stack: warning?.message }] });
    expect(other).toMatchObject({
      message: 'a line    at file:///somewhere/else.js:1:2',
      fields: { path: '    at (file:///somewhere/else.js:1:2)' },
    });
  });
});
