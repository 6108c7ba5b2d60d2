// Whatever a client sends for a record or a list, the response is one that it can act on.
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { scenario } from '../../harness/scenario.ts';

let admin: Caller;
let collections: string;
let records: string;
let id: string;

const kinds = ['text', 'number', 'bool', 'json', 'datetime', 'email', 'url', 'file', 'relation', 'select'];

beforeAll(async () => {
  const settings: Record<string, object> = {
    text: { unique: true },
    datetime: { index: true },
    relation: { target: 'fuzzed' },
    select: { options: ['a', 'b'] },
  };
  const fields = kinds.map((kind) => ({ name: kind, kind, ...settings[kind] }));
  const made = await scenario({ collections: { fuzzed: fields } });
  ({ admin, collections } = made);
  records = made.records('fuzzed');
  id = expectOk(await admin.post(records, {})).id;
});

/** Any code points, lone surrogates too; `fc.string` would first make tables for seconds, and idle connections end. */
const anyText = fc.array(fc.nat(0x10ffff), { maxLength: 20 }).map((points) =>
  String.fromCodePoint(...points)
);

const leaf = fc.oneof(
  anyText,
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.emailAddress(),
  fc.webUrl(),
  fc.uuid(),
  fc.constantFrom<unknown>(
    'a',
    '\0',
    '\ud800',
    -0,
    1e308,
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
  ),
);
const value = fc.oneof({ weight: 4, arbitrary: leaf }, fc.jsonValue());
const member = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...kinds, 'id') },
  fc.string({ maxLength: 8 }),
);

function expectActionable(response: ApiResponse): void {
  expect([200, 201, 400, 409], response.text).toContain(response.status);
  if (response.status >= 400) {
    expectError(response, response.status, response.body.code);
  }
}

describe('whatever is sent', () => {
  it('record.strict-types: as a record, is stored and read back the same, or is refused', async () => {
    const stored = async (response: ApiResponse) => {
      expectActionable(response);
      if (response.status >= 400) return;
      expect((await admin.get(`${records}/${response.body.id}`)).body).toEqual(response.body);
    };
    await fc.assert(
      fc.asyncProperty(fc.dictionary(member, value, { maxKeys: 5 }), async (body) => {
        const text = JSON.stringify(body);
        await stored(await admin.post(records, text));
        await stored(await admin.patch(`${records}/${id}`, text));
      }),
      { numRuns: 300 },
    );
  });

  it('as a query of a list, gives a page or says what is wrong', async () => {
    const name = fc.constantFrom(
      'page',
      'per_page',
      'sort',
      'fields',
      'filter',
      'expand',
      'skip_total',
      'other',
    );
    const given = fc.oneof(
      anyText,
      fc.integer().map(String),
      fc.constantFrom('-text,number', 'json', 'true', 'id,-id', 'created_at'),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, given), async (query) => {
        expectActionable(await admin.get(`${records}?${new URLSearchParams(query)}`));
      }),
      { numRuns: 300 },
    );
  });

  it('that is too wide for a page of the database is refused, and the collection goes on', async () => {
    const names = Array.from({ length: 500 }, (_, n) => `f${n}`);
    const fields = names.map((each) => ({ name: each, kind: 'text' }));
    expectOk(await admin.post(collections, { schema: { id: 'wide', fields } }));
    const path = `${collections}/wide/records`;
    const noise = Array.from({ length: 1_000 }, (_, n) => String.fromCodePoint(0x4e00 + (n * 7919) % 20_000))
      .join('');
    const refused = await admin.post(path, Object.fromEntries(names.map((each) => [each, noise])));
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation' } });
    expectOk(await admin.post(path, Object.fromEntries(names.map((each) => [each, 'short']))));
    expect(expectOk(await admin.get(path)).total_items).toBe(1);
  });

  it('as new fields for old ones, ends in a clear refusal when the table has had 1,600', async () => {
    const fieldsOf = (round: number) =>
      Array.from({ length: 500 }, (_, n) => ({ name: `r${round}_${n}`, kind: 'bool' }));
    expectOk(await admin.post(collections, { schema: { id: 'worn', fields: fieldsOf(0) } }));
    const statuses: number[] = [];
    for (let round = 1; round <= 3; round++) {
      const response = await admin.patch(`${collections}/worn?confirm=drop`, {
        schema: { fields: fieldsOf(round) },
      });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 409]);
    expect(expectOk(await admin.get(`${collections}/worn`)).schema.fields).toEqual(fieldsOf(2));
    expectOk(await admin.post(`${collections}/worn/records`, { r2_499: true }));
  });
});
