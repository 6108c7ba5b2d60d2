// The replay log and its cursors: order, bounds, and what counts as gone.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Cursors } from '../../../api/realtime/cursor.ts';
import type { RecordChange, RecordEvent } from '../../../api/realtime/event.ts';
import { type LogBounds, ReplayLog } from '../../../api/realtime/replay.ts';

const cursors = new Cursors(randomBytes(16));
const roomy: LogBounds = { events: 1_000, bytes: 1_000_000 };

function logOf(bounds: Partial<LogBounds> = {}, number = 1): ReplayLog {
  return new ReplayLog({ number, cursors, bounds: { ...roomy, ...bounds } });
}

function change(number: number, padding = 0): RecordChange {
  return { type: 'record_updated', record: { id: number, text: 'x'.repeat(padding) } };
}

function fill(log: ReplayLog, count: number): void {
  for (let number = log.newest + 1; count > 0; number++, count--) log.append(change(number));
}

function eventsAfter(log: ReplayLog, seq: number): RecordEvent[] {
  const found = log.after(seq, Infinity);
  if (found === 'dropped') throw new Error(`events after ${seq} were dropped`);
  return found;
}

function idsAfter(log: ReplayLog, seq: number, bytes = Infinity): unknown {
  const found = log.after(seq, bytes);
  return found === 'dropped' ? 'dropped' : found.map(({ record }) => record.id);
}

describe('a replay log', () => {
  it('frames an event exactly as decided', () => {
    const log = logOf();
    const { frame, id } = log.append({
      type: 'record_created',
      record: { id: '1', text: 'a\nb\r\n\u2028' },
    });
    expect(frame.toString()).toBe(
      `id: ${id}\nevent: record_created\ndata: {"id":"1","text":"a\\nb\\r\\n\u2028"}\n\n`,
    );
  });

  it('gives what followed a cursor, in order', () => {
    const log = logOf();
    fill(log, 5);
    const seq = log.locate(log.cursorAt(2));
    expect(seq).toBe(2);
    expect(idsAfter(log, 2)).toEqual([3, 4, 5]);
    expect(idsAfter(log, 5)).toEqual([]);
    expect(idsAfter(log, 0)).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives as much at once as fits, and at least one event', () => {
    const log = logOf();
    fill(log, 5);
    expect(idsAfter(log, 0, 1)).toEqual([1]);
    const size = log.append(change(6)).frame.length;
    expect(idsAfter(log, 0, size * 2 + 1)).toEqual([1, 2]);
  });

  it('holds at most so many events, and says what is gone', () => {
    const log = logOf({ events: 3 });
    fill(log, 5_000);
    expect(idsAfter(log, 4_997)).toEqual([4_998, 4_999, 5_000]);
    expect(idsAfter(log, 4_996)).toBe('dropped');
    expect(log.locate(log.cursorAt(4_997))).toBe(4_997);
    expect(log.locate(log.cursorAt(4_996))).toBeUndefined();
  });

  it('holds at most so many bytes, also of a single event', () => {
    const log = logOf({ bytes: 1_000 });
    for (let number = 1; number <= 50; number++) log.append(change(number, 100));
    expect(log.bytes).toBeLessThanOrEqual(1_000);
    expect(idsAfter(log, 49)).toEqual([50]);
    log.append(change(51, 2_000));
    expect(log.bytes).toBe(0);
    expect(idsAfter(log, 50)).toBe('dropped');
    expect(idsAfter(log, 51)).toEqual([]);
  });

  it('gives back what it took in, over many pages, whatever else was on them', () => {
    const log = logOf({ events: 700, bytes: 10_000_000 });
    const all: RecordEvent[] = [];
    for (let number = 1; number <= 2_000; number++) {
      const padding = number % 97 === 0 ? 70_000 : number % 7 * 200;
      all.push(log.append({ ...change(number, padding), type: `made.up-${number % 3}` }));
    }
    const told = ({ id, type, seq, frame, record }: RecordEvent) => ({ id, type, seq, frame, record });
    expect(eventsAfter(log, 1_300).map(told)).toEqual(all.slice(1_300).map(told));
    expect(log.bytes).toBe(all.slice(1_300).reduce((sum, { weight }) => sum + weight, 0));
  });

  it('does not touch what it gave out when it uses a page anew', () => {
    const log = logOf({ events: 10 });
    fill(log, 10);
    const [first] = eventsAfter(log, 0);
    const before = String(first?.frame);
    fill(log, 1_000);
    expect(first?.record).toEqual(change(1).record);
    expect(String(first?.frame)).toBe(before);
  });

  it('reads an event once for all who come back together', () => {
    const log = logOf();
    fill(log, 3);
    const early = eventsAfter(log, 1);
    fill(log, 1);
    const late = eventsAfter(log, 0);
    expect(late.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect([late[1] === early[0], late[2] === early[1]]).toEqual([true, true]);
  });

  it('keeps what a frame does not show: the record behind an event of a hook, and what went with a deletion', () => {
    const log = logOf();
    const custom = { ...change(1), custom: { data: [null], fields: new Set(['id']) } };
    const deletion = { ...change(2), deleted: { records: new Map([['orders/1', { id: 1 }]]), bytes: 100 } };
    const weights = [custom, deletion].map((each) => log.append(each).weight);
    expect(log.after(0, Infinity)).toMatchObject([custom, deletion]);
    expect(log.bytes).toBe(weights.reduce((sum, weight) => sum + weight, 0));
    log.halve();
    log.halve();
    expect(log.bytes).toBe(0);
  });

  it('has a gap where something happened that no event says', () => {
    const log = logOf();
    fill(log, 10);
    log.leaveGap();
    expect([log.newest, log.bytes, idsAfter(log, 10), idsAfter(log, 11)]).toEqual([11, 0, 'dropped', []]);
    expect(log.locate(log.cursorAt(10))).toBeUndefined();
    fill(log, 2);
    expect(idsAfter(log, 11)).toEqual([12, 13]);
  });

  it('forgets its older half', () => {
    const log = logOf();
    fill(log, 10);
    log.halve();
    expect(idsAfter(log, 5)).toEqual([6, 7, 8, 9, 10]);
    expect(log.locate(log.cursorAt(4))).toBeUndefined();
    for (let times = 0; times < 5; times++) log.halve();
    expect(log.bytes).toBe(0);
    expect(idsAfter(log, 10)).toEqual([]);
  });
});

describe('a cursor', () => {
  it('means nothing to another log, nor to another process', () => {
    const log = logOf();
    fill(log, 3);
    expect(logOf({}, 2).locate(log.cursorAt(0))).toBeUndefined();
    const restarted = new ReplayLog({ number: 1, cursors: new Cursors(randomBytes(16)), bounds: roomy });
    fill(restarted, 3);
    expect(restarted.locate(log.cursorAt(2))).toBeUndefined();
  });

  it('from the future is unknown', () => {
    const log = logOf();
    expect(log.locate(log.cursorAt(1))).toBeUndefined();
  });

  it('does not show how many events there were', () => {
    const ids = Array.from({ length: 1_000 }, (_, seq) => cursors.encode({ log: 1, seq }));
    expect(new Set(ids).size).toBe(1_000);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{22}$/.test(id))).toBe(true);
    expect(new Set(ids.map((id) => id.slice(0, 4))).size).toBeGreaterThan(990);
  });

  it.each([
    '',
    '0',
    'x'.repeat(22),
    '%00',
    '\u0000'.repeat(22),
    '漢'.repeat(22),
    'A'.repeat(10_000),
    '-1',
    '==',
  ])(
    'that is %j is unknown and harmless',
    (text) => {
      const log = logOf();
      fill(log, 3);
      expect(log.locate(text)).toBeUndefined();
    },
  );
});
