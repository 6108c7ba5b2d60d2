// What a runner may say to the request for a custom route, and in which order.
import { describe, expect, it } from 'vitest';
import { RouteRun } from '../../../../api/hooks/routes/run.ts';
import { ProtocolError } from '../../../../api/hooks/rpc/frames.ts';
import type { InvocationFrame } from '../../../../api/hooks/rpc/invocation.ts';

const head: InvocationFrame = { type: 'response', id: 1, status: 200, headers: [], body: null, end: false };
const end: InvocationFrame = { type: 'end', id: 1 };
const chunk = (length: number): InvocationFrame => ({
  type: 'chunk',
  id: 1,
  body: { text: 'x'.repeat(length) },
});

function run() {
  const heard: string[] = [];
  const sink = {
    head: () => void heard.push('head'),
    chunk: (bytes: Buffer) => void heard.push(`chunk of ${bytes.length}`),
    end: () => void heard.push('end'),
    fail: () => void heard.push('fail'),
  };
  return { heard, run: new RouteRun(Infinity, () => Promise.resolve(null), sink) };
}

describe('the run of a custom route', () => {
  it('takes of a body what was asked for, and not a byte more', () => {
    const { run: one, heard } = run();
    expect(one.take(head)).toBe(false);
    for (let piece = 0; piece < 4; piece++) expect(one.take(chunk(65_536))).toBe(false);
    expect(() => one.take(chunk(1))).toThrow(ProtocolError);
    const { run: other } = run();
    other.take(head);
    other.take(chunk(262_144));
    other.addCredit(100);
    expect(other.take(chunk(100))).toBe(false);
    expect(() => other.take(chunk(1))).toThrow('more of a body than was asked for');
    expect(heard).toEqual(['head', ...Array(4).fill('chunk of 65536')]);
  });

  it.each<[string, InvocationFrame[]]>([
    ['a second head', [head, head]],
    ['a body without a head', [chunk(1)]],
    ['an end without a head', [end]],
    ['the result of an event', [{ type: 'result', id: 1, outcome: 'done', changes: {} }]],
    ['a veto', [{ type: 'result', id: 1, outcome: 'veto', message: '', fault: null }]],
    ['a loaded', [{ type: 'loaded', id: 1, files: [], errors: [] }]],
  ])('takes no %s', (_name, messages) => {
    const { run: one, heard } = run();
    const last = messages.pop();
    for (const message of messages) one.take(message);
    const before = [...heard];
    expect(() => last === undefined ? undefined : one.take(last)).toThrow(ProtocolError);
    expect(heard).toEqual(before);
  });

  it('is over with its end, with a whole answer, or with a failure', () => {
    const ends: [InvocationFrame[], string[]][] = [
      [[head, end], ['head', 'end']],
      [[{ ...head, end: true }], ['head', 'end']],
      [[{ type: 'result', id: 1, outcome: 'failed', faults: [] }], ['fail']],
      [[head, { type: 'result', id: 1, outcome: 'failed', faults: [] }], ['head', 'fail']],
    ];
    for (const [messages, told] of ends) {
      const { run: one, heard } = run();
      expect(messages.map((message) => one.take(message)).at(-1)).toBe(true);
      expect(heard).toEqual(told);
    }
  });
});
