// Anything at all thrown at the parser.
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterError } from '../../../../storage/app/filter/parse/error.ts';
import { fold } from '../../../../storage/app/filter/fold.ts';
import { type SqlCondition, toSql } from '../../../../storage/app/filter/sql/to-sql.ts';
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

/** What became of a filter, and how much of this thread's CPU time it took. */
interface Timed {
  response: string;
  milliseconds: number;
}

/**
 * The response to a filter. Its time is this thread's: whatever else the machine does is not the parser's. Anything but a
 * tree or one of the two errors fails the test.
 */
function timed(filter: string): Timed {
  const started = process.threadCpuUsage();
  const response = responseTo(filter);
  const { user, system } = process.threadCpuUsage(started);
  const milliseconds = (user + system) / 1_000;
  if (response instanceof FilterError) {
    expect(response.position).toBeGreaterThanOrEqual(1);
    expect(response.position).toBeLessThanOrEqual(filter.length + 1);
    return { response: response.code, milliseconds };
  }
  expectParametersOnly(response.text, response.params);
  return { response: 'tree', milliseconds };
}

/**
 * Whether a filter takes more than 20 ms. A slow one does each time; one that the thread collected garbage in, or made
 * faster code, did so once.
 */
function isSlow(filter: string): boolean {
  return Math.min(...Array.from({ length: 5 }, () => timed(filter).milliseconds)) > 20;
}

function responseTo(filter: string): SqlCondition | FilterError {
  try {
    return toSql(fold(conditionOf(filter, scope), request), { alias: 't', firstParameter: 1 });
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
}

/** More of them: `FUZZ_RUNS=1000000 npx vitest run test/storage/app/filter/fuzz.slow.test.ts`. */
const mutants = Number(process.env['FUZZ_RUNS'] ?? 100_000);
/** How long all of them may take, in milliseconds: of CPU time, and of any on a machine that does much else. */
const most = Math.max(60_000, mutants / 2);
const patience = 10 * most;

describe('filter.grammar-fuzz', () => {
  it(
    `filter.grammar-fuzz: ${
      mutants.toLocaleString('en')
    } mutants are a tree, a parse_error or an unknown_column, each within 20 ms of CPU time`,
    async () => {
      const counts: Record<string, number> = { tree: 0, parse_error: 0, unknown_column: 0 };
      let spent = 0;
      const property = fc.property(mutant, (filter) => {
        const { response, milliseconds } = timed(filter);
        counts[response] = (counts[response] ?? 0) + 1;
        if (milliseconds > 20) expect(isSlow(filter)).toBe(false);
        // A parser that is slow with all of them is reported in time.
        spent += milliseconds;
        expect(spent).toBeLessThan(most);
      });
      for (let done = 0; done < mutants; done += 1_000) {
        fc.assert(property, { numRuns: 1_000, endOnFailure: true });
        // Vitest needs a sign of life now and then.
        await nextTurn();
      }
      // The mutants are useful: none of the results is rare.
      expect(Math.min(...Object.values(counts))).toBeGreaterThan(1_000);
      expect(Object.keys(counts)).toHaveLength(3);
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(mutants);
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
  }, patience);
});
