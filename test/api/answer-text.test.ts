// Answers that are too large for one text.
import { expect, it } from 'vitest';
import { answerText, isLong } from '../../api/answer-text.ts';
import { ApiError } from '../../api/errors.ts';

it('asks for a smaller page in the place of one that no text can hold', () => {
  const field = 'x'.repeat(8_000_000);
  const page = { items: Array.from({ length: 70 }, (_, id) => ({ id, fields: { field } })) };
  expect(() => answerText(page)).toThrow(ApiError);
  expect(() => answerText(page)).toThrow(/per_page/);
  expect(answerText({ items: page.items.slice(0, 1) }).length).toBeGreaterThan(8_000_000);
});

it('knows a long page, wherever its length is', () => {
  const text = 'x'.repeat(600_000);
  const page = (...fields: unknown[]) => ({ items: fields.map((each, id) => ({ id, fields: { each } })) });
  expect(isLong(page(text))).toBe(false);
  expect(isLong(page(text, text))).toBe(true);
  expect(isLong(page({ deep: [text, { deeper: text }] }))).toBe(true);
  expect(isLong(page(Array.from({ length: 2_000_000 }, () => 1)))).toBe(true);
  expect(isLong(undefined)).toBe(false);
});
