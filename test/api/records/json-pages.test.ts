// JSON fields in lists, which pass from PostgreSQL to the response without being parsed, and in related records.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnApp, ownWorkspace } from '../../harness/api.ts';

const odd = {
  'key "quoted"\n': 'é😀\u2028\\ "x"\t',
  nested: [[], {}, [{ '2': 1, '10': 2, a: { b: [null, true, false] } }]],
  numbers: [0, 1e21, 1e-7, -0.5, 1.7976931348623157e308, 9007199254740993, 0.1],
};
const values = [odd, [], {}, 'text', '', 0, 1e300, false, true, [null], null];
const long = 'x'.repeat(200_000);

let app: OwnApp;
let records: string;

/** As single records show them, which are read. */
let shown: { id: string; fields: Record<string, unknown> }[];

beforeAll(async () => {
  app = await (await ownWorkspace()).app();
  const fields = [
    { name: 'meta', kind: 'json' },
    { name: 'text', kind: 'text' },
    { name: 'other', kind: 'relation', target: 'metas' },
  ];
  const define = (fields: unknown) => ({ schema: { id: 'metas', kind: 'base', fields } });
  expectOk(await app.admin.post(`${app.path}/collections`, define(fields.slice(0, 2))));
  expectOk(await app.admin.patch(`${app.path}/collections/metas`, define(fields)));
  records = `${app.path}/collections/metas/records`;
  shown = [];
  for (const meta of values) {
    const { id } = expectOk(await app.admin.post(records, { meta, text: long, other: shown.at(-1)?.id }));
    shown.push(expectOk(await app.admin.get(`${records}/${id}`)));
  }
});

it('are stored as they were sent', () => {
  expect(shown.map(({ fields: { meta } }) => meta)).toEqual(values);
});

describe.each([['a short page', '&fields=meta,other', false], ['a long one', '', true]])(
  '%s',
  (_what, query, whole) => {
    const expected = () =>
      shown.map(({ id, fields: { meta, text, other } }) => ({
        id,
        fields: whole ? { meta, text, other } : { meta, other },
      }));

    it('shows them as single records do', async () => {
      const { items } = expectOk(await app.admin.get(`${records}?per_page=200${query}`));
      expect(items).toMatchObject(expected());
    });

    it('shows those of related records', async () => {
      const { items } = expectOk(await app.admin.get(`${records}?per_page=200&expand=other.other${query}`));
      expect(items).toMatchObject(expected());
      const related: { expand: { other: unknown } }[] = items;
      expect(related.map(({ expand: { other } }) => other)).toMatchObject([null, ...shown.slice(0, -1)]);
    });

    it('finds and sorts by them', async () => {
      const filter = encodeURIComponent('meta.nested.2.0.10 = 2');
      const { items } = expectOk(await app.admin.get(`${records}?filter=${filter}&sort=meta${query}`));
      expect(items).toMatchObject(expected().slice(0, 1));
    });
  },
);
