// Anything at all thrown at the parser.
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterError } from '../../../storage/filter/error.ts';
import { fold } from '../../../storage/filter/fold.ts';
import { type SqlCondition, toSql } from '../../../storage/filter/to-sql.ts';
import { appOf, conditionOf, requestOf, scopeIn } from './fixture.ts';
import { expectParametersOnly } from './sql-tokens.ts';

const scope = scopeIn(appOf());
const request = requestOf({
  auth: { id: '019b1f2e-0000-7000-8000-00000000000a', email: 'ada@example.com', role: 'user' },
  body: { title: 'a', views: 1, tags: [] },
  query: { q: 'x' },
});

/** Well-formed filters, from which mutants are made. */
const seeds = [
  "title = 'a' && views > 5 || !(done = true)",
  'author.company.country.name ~ "b%" and meta.tags.0 in [1, "x", null, true, views]',
  "@request.auth.id != '' && owner = @request.auth.id || @request.body.title = title",
  "due > '2026-01-02T03:04:05.678Z' && created_at <= @now && id != '019b1f2e-0000-7000-8000-000000000000'",
  'not (state = "draft" or state = "public") && @request.query.q !~ title && @request.method = "GET"',
  "((((a = 1)))) && title ~ '50\\\\%_\\n\\u00e9' && `null` = null && meta.a.b.c.d >= -1.5e-3",
  'file = null && mail != null && views in [] && !(!(likes < 1e10))',
  // Nearly as long as a filter may be: what takes longer than its length would explain is slowest here.
  Array(90).fill("(title != 'abcdefghij' || views > 5)").join(' && '),
];

/** Pieces that parsers and quoting trip over. */
const pieces = [
  "'",
  '"',
  '`',
  '\\',
  '\\\\',
  "\\'",
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  '..',
  '@',
  '!',
  '&&',
  '||',
  '&',
  '|',
  '=',
  '==',
  '!=',
  '<>',
  '~',
  '%',
  '_',
  '--',
  '/*',
  '*/',
  ';',
  '$1',
  '${x}',
  '::text',
  '\0',
  '\n',
  ' ',
  '\u00a0',
  '\u2028',
  'é',
  '😀',
  '\ud800',
  '\udc00',
  '\u202e',
  'null',
  'true',
  'in',
  'not',
  'and',
  'or',
  'select',
  '@now',
  '@request.auth.id',
  '@request.body.x',
  '1e999',
  '-',
  '0x1',
  '__proto__',
  'constructor',
  'password_hash',
  'title',
  "' or 1=1 --",
  '" or ""="',
  "'); drop table posts; --",
  '((((((((',
  '!!!!!!!!',
  'x'.repeat(70),
  '9'.repeat(400),
  "'".repeat(50),
  'a.'.repeat(80),
  'a=1||'.repeat(40),
] as const;

const edit = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'repeat', 'swap', 'flip'),
  at: fc.nat(10_000),
  length: fc.nat(30),
  piece: fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 6 })),
});

function mutate(
  text: string,
  { kind, at, length, piece }: { kind: string; at: number; length: number; piece: string },
): string {
  const from = at % (text.length + 1);
  const [head, cut, tail] = [text.slice(0, from), text.slice(from, from + length), text.slice(from + length)];
  switch (kind) {
    case 'insert':
      return head + piece + cut + tail;
    case 'delete':
      return head + tail;
    case 'repeat':
      return head + cut.repeat(length) + tail;
    case 'swap':
      return cut + head + tail;
    default:
      return head +
        cut.replace(
          /./su,
          (letter) => String.fromCharCode((letter.charCodeAt(0) ^ (1 << (length % 16))) & 0xffff),
        ) +
        tail;
  }
}

const mutant = fc.tuple(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 6 }))
  .map(([seed, edits]) => edits.reduce(mutate, seed));

/** What became of a filter, between which times, and how much of this thread's CPU time it took. */
interface Timed {
  filter: string;
  answer: string;
  milliseconds: number;
  from: number;
  to: number;
}

/**
 * The answer to a filter. Its time is this thread's: whatever else the machine does is not the parser's. Anything but a
 * tree or one of the two errors fails the test.
 */
function timed(filter: string): Timed {
  const [from, started] = [performance.now(), process.threadCpuUsage()];
  const answer = answerTo(filter);
  const { user, system } = process.threadCpuUsage(started);
  const found = { filter, milliseconds: (user + system) / 1_000, from, to: performance.now() };
  if (answer instanceof FilterError) {
    expect(answer.position).toBeGreaterThanOrEqual(1);
    expect(answer.position).toBeLessThanOrEqual(filter.length + 1);
    return { ...found, answer: answer.code };
  }
  expectParametersOnly(answer.text, answer.params);
  return { ...found, answer: 'tree' };
}

function answerTo(filter: string): SqlCondition | FilterError {
  try {
    return toSql(fold(conditionOf(filter, scope), request), { alias: 't', firstParameter: 1 });
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
}

/**
 * Notes full collections of garbage, which is that of the whole test: one that falls into a filter is none of the
 * parser's work. Small ones, of objects that were made just now, are. Whoever asks is told how many milliseconds of a
 * filter's time they took.
 */
function noteCollections() {
  const noted: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => void noted.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return {
    /** Waits until all are known. */
    async end(): Promise<(filter: Timed) => number> {
      // Node hands them on at the end of a turn.
      await nextTurn();
      const full = [...noted, ...observer.takeRecords()].filter(isFull);
      observer.disconnect();
      return ({ from, to }) =>
        full.filter(({ startTime }) => startTime >= from && startTime < to)
          .reduce((sum, { duration }) => sum + duration, 0);
    },
  };
}

function isFull(entry: PerformanceEntry): boolean {
  const detail = 'detail' in entry ? entry.detail : undefined;
  return typeof detail === 'object' && detail !== null && 'kind' in detail &&
    detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/** More of them: `FUZZ_RUNS=1000000 npx vitest run test/storage/filter/fuzz.test.ts`. */
const mutants = Number(process.env['FUZZ_RUNS'] ?? 100_000);
const patience = Math.max(120_000, mutants);

describe('filter.grammar-fuzz', () => {
  it(
    `filter.grammar-fuzz: ${
      mutants.toLocaleString('en')
    } mutants are a tree, a parse_error or an unknown_column, each within 20 ms of CPU time`,
    async () => {
      const counts: Record<string, number> = { tree: 0, parse_error: 0, unknown_column: 0 };
      const long: Timed[] = [];
      const collections = noteCollections();
      fc.assert(
        fc.property(mutant, (filter) => {
          const found = timed(filter);
          counts[found.answer] = (counts[found.answer] ?? 0) + 1;
          if (found.milliseconds > 20) long.push(found);
        }),
        // A parser that is slow with all of them is told of in time.
        { numRuns: mutants, endOnFailure: true, interruptAfterTimeLimit: patience / 2 },
      );
      const collectionsIn = await collections.end();
      expect(long.filter((found) => found.milliseconds - collectionsIn(found) > 20)).toEqual([]);
      // The mutants are worth something: none of the answers is rare.
      expect(Math.min(...Object.values(counts))).toBeGreaterThan(1_000);
      expect(Object.keys(counts)).toHaveLength(3);
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(mutants);
    },
    patience,
  );

  it('filter.grammar-fuzz: so are strings of nothing but the language', () => {
    const words = fc.array(fc.constantFrom(...pieces, ...seeds.flatMap((seed) => seed.split(' '))), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(words, (list) => {
        timed(list.join(' '));
        timed(list.join(''));
      }),
      { numRuns: 5_000 },
    );
  }, 60_000);
});
