// Letter case and patterns, against the server itself.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldCase, foldCaseSql } from '../../../../../storage/app/filter/operators/letter-case.ts';
import {
  likePattern,
  likePatternSql,
  likeSql,
  matches,
} from '../../../../../storage/app/filter/operators/pattern.ts';
import { type FilteredTables, makeTables } from '../fixture.ts';

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makeTables({
    texts: [{ name: 'key', kind: 'text' }, { name: 'text', kind: 'text' }],
  }));
});

afterAll(() => drop());

/** What the server makes of texts, by an expression over `t`. */
async function ask(expression: string, texts: readonly string[]): Promise<unknown[]> {
  const list = JSON.stringify(texts);
  return await tables.pool.run(async (sql) => {
    const rows = await sql.unsafe(
      `select ${expression} from jsonb_array_elements_text($1::text::jsonb) with ordinality as list(t, n) order by n`,
      [list],
    ).values();
    return rows.map((row) => row[0]);
  });
}

describe('letter case', () => {
  it('is ignored alike by the server and here, for every character of Unicode', async () => {
    const all: string[] = [];
    for (let code = 1; code <= 0x10ffff; code++) {
      if (code < 0xd800 || code > 0xdfff) all.push(String.fromCodePoint(code));
    }
    const differences: string[] = [];
    for (let from = 0; from < all.length; from += 100_000) {
      const characters = all.slice(from, from + 100_000);
      const [folded] = await ask(foldCaseSql('t'), [characters.join('')]);
      [...String(folded)].forEach((response, index) => {
        const character = characters[index] ?? '';
        if (response !== foldCase(character)) {
          differences.push(`${character.codePointAt(0)?.toString(16)}: ${response}`);
        }
      });
      expect([...String(folded)].length).toBe(characters.length);
    }
    expect(all.length).toBe(0x10ffff - 0x800);
    expect(differences).toEqual([]);
  });

  it('is ignored character by character: what stands beside one changes nothing', async () => {
    const texts = [
      'ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ',
      'aΣ',
      'Σa',
      "Σ'a",
      'İSTANBUL',
      'I\u0307I',
      'ıI',
      'ẞß',
      'ŒÆǅǆǄ',
      'ÅÅ',
      'KK',
      '\u{10400}\u{10428}',
      'É\u0301e\u0301',
      '\u{16EA0}É\uA7CEÉ',
      'ϴθϑ',
    ];
    expect(texts.map(foldCase)).toEqual(await ask(foldCaseSql('t'), texts));
    for (const text of texts) expect([...foldCase(text)]).toEqual([...text].map(foldCase));
  });

  it.each([
    ['É', 'é'],
    ['ÀÇÑØŽ', 'àçñøž'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['ПРИВЕТ', 'привет'],
    ['ՀԱՅ', 'հայ'],
    ['ẞ', 'ß'],
    ['İ', 'i'],
    ['K', 'k'],
  ])('joins %s and %s', (upper, lower) => {
    expect(foldCase(upper)).toBe(foldCase(lower));
  });

  it.each([['ß', 'ss'], ['ﬁ', 'fi'], ['ı', 'i'], ['é', 'e'], ['e\u0301', 'é'], ['µ', 'μ']])(
    'does not join %s and %s',
    (one, other) => {
      expect(foldCase(one)).not.toBe(foldCase(other));
    },
  );
});

describe('filter.like-escape', () => {
  const texts = [
    '50%',
    '50 %',
    '50x',
    'a_b',
    'axb',
    'a\\b',
    'a\\%b',
    'a!b',
    '100',
    '%',
    '_',
    '\\',
    '!',
    '',
    'a%',
    'A%B_C\\D!',
  ];

  it.each([
    ['_', ['a_b', '_', 'A%B_C\\D!']],
    ['a_b', ['a_b']],
    ['\\', ['a\\b', 'a\\%b', '\\', 'A%B_C\\D!']],
    ['a\\b', ['a\\b']],
    ['\\\\', []],
    ['!', ['a!b', '!', 'A%B_C\\D!']],
    ['\\%', ['50%', '50 %', 'a\\%b', '%', 'a%', 'A%B_C\\D!']],
    ['50\\%', ['50%']],
    ['a\\\\%', ['a\\%b']],
    ['a\\%', ['a%', 'A%B_C\\D!']],
    ['%', texts],
    ['%%', texts],
    ['5%', ['50%', '50 %', '50x']],
    ['%\\%', ['50%', '50 %', '%', 'a%']],
    ['a%b', ['a_b', 'axb', 'a\\b', 'a\\%b', 'a!b']],
    ['a_%', ['a_b']],
    ['a\\%b%', ['A%B_C\\D!']],
    ['\\%%', ['%']],
    ['%_%', ['a_b', '_', 'A%B_C\\D!']],
    ['%!', ['!', 'A%B_C\\D!']],
    ['[0-9]', []],
    ['.*', []],
    ['^5', []],
  ])(
    'filter.like-escape: %s finds what it says, here and in SQL, as a value and from a column',
    async (pattern, found) => {
      expect(texts.filter((text) => matches(text, pattern))).toEqual(found);
      const byValue = await tables.pool.run(async (sql) => {
        const rows = await sql.unsafe(
          `select t from jsonb_array_elements_text($1::text::jsonb) as list(t) where ${
            likeSql('t', '$2::text')
          }`,
          [JSON.stringify(texts), likePattern(pattern)],
        ).values();
        return rows.map((row) => row[0]);
      });
      expect(byValue).toEqual(found);
      const byColumn = await tables.pool.run(async (sql) => {
        const rows = await sql.unsafe(
          `select t from jsonb_array_elements_text($1::text::jsonb) as list(t), (select $2::text) as patterns(p)
         where ${likeSql('t', likePatternSql('p'))}`,
          [JSON.stringify(texts), pattern],
        ).values();
        return rows.map((row) => row[0]);
      });
      expect(byColumn).toEqual(found);
    },
  );

  it('filter.like-escape: a percent sign in a literal is written \\% or \\\\%', async () => {
    for (const text of texts) await tables.insert('texts', { key: `<${text}>`, text });
    for (
      const [filter, keys] of [
        [String.raw`text ~ '50\\%'`, ['<50%>']],
        [String.raw`text ~ '50\%'`, ['<50%>']],
        [String.raw`text = '50%'`, ['<50%>']],
        [String.raw`text ~ 'a\\b'`, ['<a\\b>']],
        [String.raw`text ~ 'a_b'`, ['<a_b>']],
        [String.raw`text !~ '%'`, []],
      ] as const
    ) {
      expect(await tables.select(filter, { collection: 'texts' }), filter).toEqual({
        sql: keys,
        memory: keys,
      });
    }
  });

  it('filter.like-escape: no pattern makes a search take long', async () => {
    const text = 'a'.repeat(20_000);
    const pattern = `${'a%'.repeat(1_000)}b`;
    const spent = process.threadCpuUsage();
    const started = performance.now();
    expect(matches(text, pattern)).toBe(false);
    const { user, system } = process.threadCpuUsage(spent);
    expect((user + system) / 1_000).toBeLessThan(100);
    const [response] = await ask(likeSql('t', `('${'a%'.repeat(1_000)}b')`), [text]);
    expect(response).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('filter.like-escape: a text that repeats itself does not make a search take long', async () => {
    const text = 'a'.repeat(1_000_000);
    const started = performance.now();
    for (const pattern of [`${'a'.repeat(255)}b`, `${'a'.repeat(300_000)}b${'a'.repeat(300_000)}`]) {
      expect(matches(text, pattern)).toBe(false);
      await tables.insert('texts', { key: pattern, text });
      const { sql, memory } = await tables.select('text ~ key', { collection: 'texts' });
      expect(sql).toEqual(memory);
      expect(sql).not.toContain(pattern);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('filter.like-escape: nothing matches a pattern of more than 256 characters, which no literal can be', async () => {
    const [most, more] = ['é'.repeat(256), '\u{10400}'.repeat(257)];
    for (const text of [most, more]) await tables.insert('texts', { key: text, text });
    const keys = async (filter: string) => {
      const { sql, memory } = await tables.select(filter, { collection: 'texts' });
      expect(sql, filter).toEqual(memory);
      return sql;
    };
    expect(await keys(`text ~ '${most}'`)).toEqual([most]);
    expect(await keys('text ~ key')).toContain(most);
    expect(await keys('text ~ key')).not.toContain(more);
    expect(await keys('text !~ key')).toContain(more);
    await expect(keys(`text ~ '${more}'`)).rejects.toMatchObject({ code: 'parse_error', position: 8 });
  });
});
