// Names and texts in SQL without parameters, and arrays as text.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quoteIdentifier, quoteLiteral } from '../../../storage/sql/quote.ts';
import { formatArray, parseArray } from '../../../storage/sql/text-array.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

const texts = fc.string({ unit: 'binary', maxLength: 30 }).filter((text) =>
  !text.includes('\0') && text.isWellFormed()
);

it('ident.quote-property: a quoted name is that name to PostgreSQL, or refused', async () => {
  await own.as({}, async (sql) => {
    await fc.assert(
      fc.asyncProperty(texts, async (name) => {
        if (name === '' || Buffer.byteLength(name) > 63) {
          expect(() => quoteIdentifier(name)).toThrow(RangeError);
          return;
        }
        const rows = await sql.unsafe(`select 1 as ${quoteIdentifier(name)}`);
        expect(rows.columns[0]?.name).toBe(name);
      }),
      { numRuns: 300 },
    );
  });
});

it('refuses names that PostgreSQL would cut off or cannot hold', () => {
  expect(() => quoteIdentifier('x'.repeat(64))).toThrow(RangeError);
  expect(() => quoteIdentifier('ä'.repeat(32))).toThrow(RangeError);
  expect(() => quoteIdentifier('a\0b')).toThrow(RangeError);
  expect(() => quoteLiteral('a\0b')).toThrow(RangeError);
});

it('makes a quoted literal that is that text to PostgreSQL, with either setting of backslashes', async () => {
  await own.as({}, async (sql) => {
    for (const setting of ['on', 'off']) {
      await sql.unsafe(`set standard_conforming_strings = ${setting}`);
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const [row] = await sql.unsafe(`select ${quoteLiteral(text)} as text`);
          expect(row?.['text']).toBe(text);
        }),
        { numRuns: 200 },
      );
    }
  });
});

it('sends and reads arrays of text as PostgreSQL does', async () => {
  await own.as({}, async (sql) => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { maxLength: 5 }), async (items) => {
        expect(parseArray(formatArray(items))).toEqual(items);
        const [row] = await sql`select ${items}::text[] as items, cardinality(${items}::text[]) as count`;
        expect(row).toEqual({ items, count: items.length });
      }),
      { numRuns: 300 },
    );
  });
});
