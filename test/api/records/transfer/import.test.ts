// Importing files of records: what is stored, what is refused and by which line.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario } from '../../../harness/scenario.ts';

const fields = [
  { name: 'title', kind: 'text', required: true, max: 10 },
  { name: 'slug', kind: 'text', unique: true },
  { name: 'total', kind: 'number', default: 3 },
  { name: 'meta', kind: 'json' },
  { name: 'done', kind: 'bool' },
  { name: 'parent', kind: 'relation', target: 'orders' },
  { name: 'shop', kind: 'relation', target: 'shops' },
];

let made: Scenario;
let admin: Caller;
let collection = 0;

beforeAll(async () => {
  made = await scenario({ collections: { shops: [{ name: 'name', kind: 'text' }] } });
  ({ admin } = made);
});

/** A collection of a test's own. */
async function orders(): Promise<string> {
  const id = `orders${collection++}`;
  return await made.define(
    id,
    fields.map((field) => field.name === 'parent' ? { ...field, target: id } : field),
  );
}

const types = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
function importing(
  records: string,
  body: string,
  query = '',
  type: string = types.csv,
): Promise<ApiResponse> {
  return admin.post(`${records}/import${query}`, body, { 'Content-Type': type });
}
const lines = (...objects: object[]) => objects.map((each) => JSON.stringify(each)).join('\n');
const titles = async (records: string) =>
  expectOk(await admin.get(`${records}?sort=title&per_page=200`)).items.map(
    ({ fields }: { fields: { title: string } }) => fields.title,
  );
const errorsOf = ({ body }: ApiResponse) => {
  const errors: { path: string; code: string; message: string }[] = body.errors;
  return errors.map(({ path, code, message }) => `${path} (${code}): ${message}`);
};

describe('an import', () => {
  it('creates records, with ids and times if the file has them', async () => {
    const records = await orders();
    const id = randomUUID();
    const csv = `id,created_at,title,total\n${id},2020-01-01T00:00:00+01:00,one,\n,,two,5\n`;
    expect(expectOk(await importing(records, csv))).toEqual({ created: 2, skipped: 0, errors: [] });
    const { items } = expectOk(await admin.get(`${records}?sort=title`));
    expect(items[0]).toMatchObject({
      id,
      fields: { title: 'one', total: null },
      created_at: '2019-12-31T23:00:00.000Z',
      updated_at: '2019-12-31T23:00:00.000Z',
    });
    expect(items[1].fields).toMatchObject({ title: 'two', total: 5 });
    expect(Date.now() - Date.parse(items[1].created_at)).toBeLessThan(60_000);
  });

  it('fills in defaults where the file has no such column or member', async () => {
    const records = await orders();
    expectOk(await importing(records, 'title\none\n'));
    expectOk(
      await importing(records, lines({ title: 'two' }, { title: 'three', total: null }), '', types.ndjson),
    );
    const { items } = expectOk(await admin.get(`${records}?sort=title`));
    expect(items.map(({ fields }: { fields: { total: number } }) => fields.total)).toEqual([3, null, 3]);
  });

  it('takes nothing of a file with errors, and names every line of it', async () => {
    const records = await orders();
    await made.make(records, { title: 'there', slug: 'taken' });
    const csv = [
      'title,slug,total,meta,done',
      'fine,a,1,"{""x"":1}",true',
      ',b,1,,',
      '"two\nlines",c,x,{,maybe',
      'a title too long,d,,,',
      'short',
      'same,a,,,',
      'other,taken,,,',
    ].join('\n');
    const response = await importing(records, csv);
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(errorsOf(response)).toEqual([
      'line 3: title (required): is required',
      'line 4: meta (invalid): is not JSON',
      'line 6: title (invalid): must have at most 10 characters',
      'line 7 (invalid): has 1 values, and the first line has 5',
      'line 8: slug (taken): another record has this value',
      'line 9: slug (taken): another record has this value',
    ]);
    expect(await titles(records)).toEqual(['there']);
    const numbers = 'title,total,done\none,x,maybe\n';
    expect(errorsOf(await importing(records, numbers))).toEqual([
      'line 2: total (invalid): must be a number',
      'line 2: done (invalid): must be true or false',
    ]);
  });

  it('says 409 if all that is wrong is that values are taken', async () => {
    const records = await orders();
    const id = await made.make(records, { title: 'there', slug: 'taken' });
    const response = await importing(
      records,
      lines({ title: 'new', slug: 'taken' }, { id, title: 'new' }),
      '',
      types.ndjson,
    );
    expect([response.status, response.body.code]).toEqual([409, 'conflict']);
    expect(errorsOf(response)).toEqual([
      'line 1: slug (taken): another record has this value',
      expect.stringMatching(/^line 2: id \(taken\): a record with this id already exists/),
    ]);
  });

  it('skips wrong lines where it may, and reports the first hundred', async () => {
    const records = await orders();
    await made.make(records, { title: 'there', slug: 's5' });
    const rows = Array.from({ length: 3_000 }, (_, n) => `t${n},s${n}`);
    for (let n = 2_000; n < 2_150; n++) rows[n] = `,s${n}`;
    const report = expectOk(await importing(records, `title,slug\n${rows.join('\n')}`, '?on_error=skip'));
    expect([report.created, report.skipped, report.errors.length]).toEqual([2_849, 151, 100]);
    expect(report.errors.slice(0, 2)).toEqual([
      { path: 'line 7: slug', code: 'taken', message: 'another record has this value' },
      { path: 'line 2002: title', code: 'required', message: 'is required' },
    ]);
    expect((await admin.get(`${records}?per_page=1`)).body.total_items).toBe(2_850);
    const again = expectOk(await importing(records, `title,slug\n${rows.join('\n')}`, '?on_error=skip'));
    expect([again.created, again.skipped, again.errors.length]).toEqual([0, 3_000, 100]);
  });

  it('stores nothing in a dry run, and reports the same', async () => {
    const records = await orders();
    const csv = 'title,slug\none,a\n,b\ntwo,a\n';
    const dry = expectOk(await importing(records, csv, '?on_error=skip&dry_run=true'));
    expect(await titles(records)).toEqual([]);
    expect(expectOk(await importing(records, csv, '?on_error=skip'))).toEqual(dry);
    expect(dry).toMatchObject({ created: 1, skipped: 2 });
    expect((await importing(records, csv, '?dry_run=true')).status).toBe(400);
    expect(expectOk(await importing(records, 'title\nthree\n', '?dry_run=true'))).toMatchObject({
      created: 1,
    });
    expect(await titles(records)).toEqual(['one']);
  });

  it('finds records that come later in the file, and names those that never come', async () => {
    const records = await orders();
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const cycle = [{ id: a, title: 'a', parent: b }, { id: b, title: 'b', parent: a }];
    const far = Array.from({ length: 2_000 }, (_, n) => ({ title: `n${n}`, parent: c }));
    const report = expectOk(
      await importing(
        records,
        lines(...far.slice(0, 10), ...cycle, ...far.slice(10), { id: c, title: 'c' }),
        '',
        types.ndjson,
      ),
    );
    expect(report.created).toBe(2_003);
    const missing = [{ title: 'x', parent: randomUUID() }, { title: 'y', shop: randomUUID() }, {
      title: 'z',
    }];
    const response = await importing(records, lines(...missing), '', types.ndjson);
    expect(errorsOf(response).sort()).toEqual([
      'line 1: parent (not_found): there is no record with this id',
      'line 2: shop (not_found): there is no record with this id',
    ]);
    expect(expectOk(await importing(records, lines(...missing), '?on_error=skip', types.ndjson)))
      .toMatchObject({
        created: 1,
        skipped: 2,
      });
  });

  it('checks the references of fields of many, and numbers records that have no number', async () => {
    const tags = [await made.make(made.records('shops'), { name: 'a' }), randomUUID()];
    const many = await made.define('many', [
      { name: 'tags', kind: 'relation', many: true, target: 'shops' },
      { name: 'number', kind: 'number', autonumber: true },
    ]);
    const csv = `number,tags\n7,${tags[0]}\n,"[""${tags.join('"",""')}""]"\n,\n`;
    expect(errorsOf(await importing(many, csv))).toEqual([
      'line 3: tags (not_found): there is no record with this id',
    ]);
    expectOk(await importing(many, csv, '?on_error=skip'));
    const { items } = expectOk(await admin.get(`${many}?sort=number`));
    expect(items.map(({ fields }: { fields: unknown }) => fields)).toEqual([
      { tags: [tags[0]], number: 7 },
      { tags: [], number: 8 },
    ]);
    expect(errorsOf(await importing(many, 'number\nx\n'))).toEqual([
      'line 2: number (invalid): must be a number',
    ]);
  });

  it.each([
    ['application/json', '[]', 422, 'the Content-Type must be application/x-ndjson or text/csv'],
    ['text/csv', 'title,nope,title\n', 400, 'line 1: nope: unknown field; line 1: title: comes twice'],
    ['text/csv', 'title\n"one', 400, 'line 2: a quote is not closed'],
    [
      'text/csv',
      'title\na"b\n',
      400,
      'line 2: a quote must be at the beginning of a value; write one within a value twice',
    ],
    ['text/csv; charset=utf-8', 'title,password_hash\n', 400, 'line 1: password_hash: unknown field'],
    [
      'application/x-ndjson',
      '{"title":"a"}\n[1]\n\n"x"\n{',
      400,
      'line 2: must be a JSON object; line 4: must be a JSON object; line 5: is not JSON',
    ],
    [
      'application/x-ndjson',
      '{"title":"a","nope":1,"id":"x","created_at":5}',
      400,
      'line 1: created_at: must be a date and time as in RFC 3339, such as 2026-01-02T03:04:05.678Z; line 1: id: must be a UUID; line 1: nope: unknown field',
    ],
    [
      'application/x-ndjson',
      '{"title":"a","title":"b"}',
      400,
      expect.stringMatching(/^line 1: .*twice|^line 1: /),
    ],
  ])('refuses %s %j', async (type, body, status, message) => {
    const records = await orders();
    const response = await importing(records, body, '', type);
    expect([response.status, response.body.message]).toEqual([status, message]);
    expect(await titles(records)).toEqual([]);
  });

  it('takes an empty file for one without records', async () => {
    const records = await orders();
    for (const body of ['', '\n\n', 'title\n']) {
      expect(expectOk(await importing(records, body))).toEqual({ created: 0, skipped: 0, errors: [] });
    }
  });
});
