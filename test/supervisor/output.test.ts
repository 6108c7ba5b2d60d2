// What is printed, for programs and for people.
import { describe, expect, it } from 'vitest';
import { createOutput, type OutputOptions, readPostgresLine } from '../../supervisor/output.ts';

function make(change: Partial<OutputOptions> = {}) {
  const written: string[] = [];
  const output = createOutput({
    level: 'info',
    format: 'json',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    write: (text) => written.push(text),
    ...change,
  });
  return { output, written };
}

describe('the output', () => {
  it('is one JSON object a line for programs', () => {
    const { output, written } = make();
    output.log('info', 'listening', { url: 'http://127.0.0.1:1' });
    output.hint('do this');
    output.postgresLine('12 LOG:  redo starts at 0/1');
    expect(written).toEqual([
      '{"ts":"2026-01-02T03:04:05.678Z","level":"info","part":"supervisor","message":"listening","url":"http://127.0.0.1:1"}\n',
      '{"ts":"2026-01-02T03:04:05.678Z","level":"info","part":"supervisor","message":"do this"}\n',
      '{"ts":"2026-01-02T03:04:05.678Z","level":"info","part":"postgres","message":"redo starts at 0/1"}\n',
    ]);
  });

  it('is columns and plain hints for people', () => {
    const { output, written } = make({ format: 'pretty' });
    output.log('warn', 'slow disk', { path: '/a b' });
    output.hint('do this');
    expect(written).toEqual([
      '2026-01-02T03:04:05.678Z warn  supervisor slow disk path=/a b\n',
      'do this\n',
    ]);
  });

  it('tells what is to be known at any level', () => {
    const { output, written } = make({ level: 'error' });
    output.logAlways('listening', { url: 'http://127.0.0.1:1' });
    expect(written).toEqual([
      '{"ts":"2026-01-02T03:04:05.678Z","level":"info","part":"supervisor","message":"listening","url":"http://127.0.0.1:1"}\n',
    ]);
  });

  it('leaves out what is less serious than asked for', () => {
    const { output, written } = make({ level: 'warn' });
    output.log('info', 'hello');
    output.postgresLine('12 LOG:  redo starts at 0/1');
    output.postgresLine('12 FATAL:  no space left on device');
    expect(written).toHaveLength(1);
  });

  it.each([
    [
      '12 LOG:  database system is ready to accept connections',
      'debug',
      'database system is ready to accept connections',
    ],
    ['12 LOG:  redo starts at 0/1', 'info', 'redo starts at 0/1'],
    ['12 WARNING:  worker took too long', 'warn', 'worker took too long'],
    ['12 FATAL:  no space left', 'error', 'no space left'],
    ['\tcontinued', 'info', 'continued'],
  ])('reads %o of PostgreSQL', (line, level, message) => {
    expect(readPostgresLine(line)).toEqual({ level, message });
  });
});
