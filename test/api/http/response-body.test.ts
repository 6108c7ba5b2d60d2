// Bodies of responses, and how long ones are rendered.
import { expect, it } from 'vitest';
import { bodyLength, renderBody } from '../../../api/http/response-body.ts';
import { ApiError } from '../../../api/errors.ts';
import { JsonText } from '../../../storage/sql/json-text.ts';

const text = 'x'.repeat(600_000);

/** The text of a body, and how many turns it took. */
async function make(
  value: unknown,
  maxLength?: number,
): Promise<{ text: string; turns: number; bytes: number }> {
  let turns = 0;
  const body = await renderBody(value, {
    waitForTurn: () => {
      turns++;
      return Promise.resolve();
    },
    ...(maxLength === undefined ? {} : { maxLength }),
  });
  return {
    text: typeof body === 'string' ? body : Buffer.concat(body).toString('utf8'),
    turns,
    bytes: bodyLength(body),
  };
}

function pageOf(...fields: unknown[]): Record<string, unknown> {
  const created_at = new Date(0);
  return {
    items: fields.map((each, id) => ({ id, fields: { each }, left: undefined, created_at })),
    page: 1,
  };
}

it('asks for a smaller page in the place of one that no text can hold', async () => {
  const page = pageOf(text, text, text);
  const { length } = JSON.stringify(page);
  expect((await make(page, length)).bytes).toBe(length);
  const refused = make(page, length - 1);
  await expect(refused).rejects.toThrow(ApiError);
  await expect(refused).rejects.toThrow(/per_page/);
});

it.each([
  ['a short page', pageOf(text), 0],
  ['two long texts', pageOf(text, text), 2],
  ['a long text and short ones', pageOf('a', text, 'b', text, 'c', null, true, [1, 'é\u0001"😀']), 2],
  ['texts deep in a record', pageOf({ deep: [text, { deeper: text }] }), 3],
  ['a list of many numbers', pageOf(Array.from({ length: 1_100_000 }, () => 1), 1), 3],
  ['many empty objects', pageOf(Array.from({ length: 1_100_000 }, () => ({}))), 3],
  ['twenty texts', pageOf(...Array.from({ length: 20 }, () => text)), 20],
  ['items alone', { items: [text, text] }, 2],
  ['one long record', { fields: { text: text + text } }, 1],
  ['a short one', { fields: { text } }, 0],
])('makes %s as JSON.stringify does, a piece in each turn', async (_what, value, turns) => {
  const made = await make(value);
  expect(made.text === JSON.stringify(value)).toBe(true);
  expect(made.turns).toBe(turns);
  expect(made.bytes).toBe(Buffer.byteLength(made.text));
});

it('takes long JSON that nobody has read into answers as it is, wherever it stands', async () => {
  const unread = new JsonText(`{"10": 1.0, "2": [ ], "long": "${'x'.repeat(20_000)}"}`);
  const { text: made } = await make({
    ...pageOf(text, unread, text),
    items: [{ fields: { text, unread } }, { fields: { text }, expand: { of: { fields: { unread } } } }],
  });
  expect(made.split(unread.text)).toHaveLength(3);
  expect(JSON.parse(made).items[1].expand.of.fields.unread).toMatchObject({ 10: 1, 2: [] });
  expect((await make(pageOf(unread))).text).toContain(unread.text);
});

it('reads short JSON, and writes it again', async () => {
  const made = await make(pageOf(new JsonText('{"b": 1, "a": [ ]}')));
  expect(JSON.parse(made.text).items[0].fields.each).toEqual({ b: 1, a: [] });
  expect(made.turns).toBe(0);
});

it('leaves a text that is no JSON alone', async () => {
  expect(await renderBody('plain', { contentType: 'text/plain', waitForTurn: () => Promise.resolve() })).toBe(
    'plain',
  );
  expect((await make('json')).text).toBe('"json"');
});
