// The declaration of searches: languages, changes of fields, and the words that records had before.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, send, serverUrl } from '../../../harness/api.ts';
import { searchWordsTable } from '../../../../storage/app/search/names.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { openDatabaseOf } from '../../../harness/database.ts';
import { type Scenario, scenario, titlesOf } from '../../../harness/scenario.ts';

let made: Scenario;
let admin: Caller;

beforeAll(async () => {
  made = await scenario();
  ({ admin } = made);
});

const text = (name: string, search?: boolean) => ({ name, kind: 'text', ...search && { search } });
const change = (id: string, schema: object, query = '') =>
  admin.patch(`${made.collections}/${id}${query}`, { schema });
const find = async (records: string, search: string) =>
  titlesOf(await admin.get(`${records}?search=${encodeURIComponent(search)}`));

describe('the language', () => {
  it('finds forms of words, and leaves out words that say nothing', async () => {
    const fields = [text('title', true)];
    const created = expectOk(
      await admin.post(made.collections, { schema: { id: 'english', language: 'english', fields } }),
    );
    expect(created.schema.language).toBe('english');
    const records = made.records('english');
    await made.make(records, { title: 'the runner was running' });
    expect(await find(records, 'runs')).toEqual(['the runner was running']);
    expect(await find(records, 'the')).toEqual([]);
    const kept = expectOk(await change('english', { fields }));
    expect(kept.schema.language).toBe('english');
    expect(expectOk(await change('english', { language: 'simple', fields })).schema.language).toBe('simple');
    expect(await find(records, 'runs')).toEqual([]);
    expect(await find(records, 'the')).toEqual(['the runner was running']);
  });

  it('is one that the server has', async () => {
    for (const language of ['klingon', "simple'::regconfig", '', 'pg_catalog.simple']) {
      const schema = { id: 'unknown', language, fields: [text('title', true)] };
      const response = await admin.post(made.collections, { schema });
      expect(response.status).toBe(400);
      expect(response.body.errors[0].path).toBe('schema.language');
      expect(response.body.message).toContain(`schema.language: "${language}" is not one of simple, arabic`);
    }
  });
});

it('search is a setting of text fields only', async () => {
  const schema = { id: 'wrong', fields: [{ name: 'mail', kind: 'email', search: true }] };
  const response = await admin.post(made.collections, { schema });
  expect(response.body.message).toBe('schema.fields.mail.search: is not a setting of email fields');
});

it('a searched field may be renamed, and records that are imported are found', async () => {
  const records = await made.define('renamed', [text('title'), text('body', true)]);
  await made.make(records, { title: 'kiwi', body: 'mango' });
  expectOk(await change('renamed', { fields: [text('title'), { ...text('text', true), was: 'body' }] }));
  const report = await send(`${serverUrl()}${records}/import`, {
    method: 'POST',
    body: 'title,text\npapaya,"guava, mango"\n',
    headers: { 'Content-Type': 'text/csv', Authorization: `Bearer ${admin.token}` },
  });
  expectOk(report);
  expect((await find(records, 'mango')).toSorted()).toEqual(['kiwi', 'papaya']);
  expect(await find(records, 'gauva')).toEqual(['papaya']);
  expectOk(await change('renamed', { fields: [text('title', true), text('text', true)] }));
  expect(await find(records, 'papaya')).toEqual(['papaya']);
});

it('a change finds the records that were there before, and may drop a searched field', async () => {
  const records = await made.define('before', [text('title'), text('body')]);
  await made.make(records, { title: 'kiwi', body: 'mango' });
  expectOk(await change('before', { fields: [text('title', true), text('body', true)] }));
  expect(await find(records, 'kiwi mango')).toEqual(['kiwi']);
  expect(await find(records, 'mnago')).toEqual(['kiwi']);
  expectOk(await change('before', { fields: [text('title', true)] }, '?confirm=drop'));
  expect(await find(records, 'kiwi')).toEqual(['kiwi']);
  expect(await find(records, 'mango')).toEqual([]);
  expect(await find(records, 'kwii')).toEqual(['kiwi']);
  expectOk(await change('before', { fields: [text('title')] }));
  expect((await admin.get(`${records}?search=kiwi`)).status).toBe(400);
  expectOk(await admin.delete(`${made.collections}/before`));
  await made.define('before', [text('title', true)]);
});

describe('the table of words', () => {
  async function words(): Promise<string[]> {
    const pool = await openDatabaseOf(made.workspace.id);
    const read = pool.transaction(async (sql) => {
      const [app] = await sql<
        { schema: string }[]
      >`select schema from workspace.apps where id = ${made.app.id}`;
      const table = { schema: app?.schema ?? '', collection: 'kept' };
      await sql.unsafe(`set local role ${quoteIdentifier(table.schema)}`);
      return await sql.unsafe<{ word: string }[]>(
        `select word from ${searchWordsTable(table)} order by word`,
      );
    });
    const rows = await read.finally(() => pool.end());
    return rows.map(({ word }) => word);
  }

  it('has the words of the records there are, and no others', async () => {
    const records = await made.define('kept', [text('title', true), text('other')]);
    const first = await made.make(records, { title: 'orange lemon id-12345' });
    const second = await made.make(records, { title: 'lemon' });
    expect(await words()).toEqual(['lemon', 'orange']);
    expectOk(await admin.patch(`${records}/${second}`, { title: 'cherry', other: 'plum' }));
    expect(await words()).toEqual(['cherry', 'lemon', 'orange']);
    expectOk(await admin.delete(`${records}/${first}`));
    expect(await words()).toEqual(['cherry']);
  });
});

it('very long texts and words are stored', async () => {
  const records = await made.define('long', [text('title', true), text('body', true)]);
  const distinct = Array.from({ length: 60_000 }, (_, index) => `w${index.toString(36)}x`).join(' ');
  await made.make(records, { title: distinct, body: `${'y'.repeat(5_000)} ${'🙂 '.repeat(100_000)}` });
  expect(await find(records, 'w1x')).toHaveLength(1);
});
