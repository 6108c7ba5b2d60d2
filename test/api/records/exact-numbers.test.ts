// Numbers that a double cannot hold: `json` fields keep them to the last digit, wherever a record passes.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk, serverUrl } from '../../harness/api.ts';
import { type Scenario, scenario, title, titlesOf } from '../../harness/scenario.ts';
import { openEvents } from '../realtime/event-client.ts';
import { openSocket } from '../realtime/socket-client.ts';

const big = '9007199254740993';
const list = [
  big,
  '-12345678901234567890123',
  '0.1000000000000000055',
  '1.5',
  `1${'0'.repeat(299)}1`,
  '4.9e-324',
];
const meta = `{"id":${big},"list":[${list.join(',')}],"text":"${big}"}`;
/** With the digits that PostgreSQL makes of an exponent. */
const shown = digits(meta.replace('4.9e-324', `0.${'0'.repeat(323)}49`));

/** JSON with all numbers as texts. */
function digits(text: string): unknown {
  return JSON.parse(
    text,
    (_name, value, { source }) => typeof value === 'number' ? `number ${source}` : value,
  );
}

/** The `meta` of all records in what the server sent. */
function metasIn(text: string): unknown[] {
  const found: unknown[] = [];
  const search = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'meta') found.push(member);
      else search(member);
    }
  };
  search(digits(text));
  return found;
}

function metasOf(response: ApiResponse): unknown[] {
  expectOk(response);
  return metasIn(response.text);
}

const fields = [
  title,
  { name: 'meta', kind: 'json' },
  { name: 'count', kind: 'number' },
  { name: 'other', kind: 'relation', target: 'things' },
];

let app: Scenario;
let admin: Caller;
let records: string;

/** Creates a record, by the text of its fields. */
async function make(members: string): Promise<string> {
  return expectOk(await admin.post(records, `{${members}}`)).id;
}

beforeAll(async () => {
  app = await scenario({ collections: { plain: [title] }, rules: {} });
  ({ admin } = app);
  records = await app.define('things', fields.slice(0, 3), { list: 'any', get: 'any' });
  expectOk(
    await admin.patch(`${app.collections}/things`, { schema: { id: 'things', kind: 'base', fields } }),
  );
});

describe('a json field', () => {
  it('shows what was sent, in every response', async () => {
    const created = await admin.post(records, `{"title":"exact","meta":${meta}}`);
    expect(metasOf(created)).toEqual([shown]);
    const { id } = created.body;
    // The third time from the cache.
    for (let reads = 0; reads < 3; reads++) {
      expect(metasOf(await admin.get(`${records}/${id}`))).toEqual([shown]);
    }
    expect(metasOf(await admin.get(`${records}?filter=title='exact'`))).toEqual([shown]);
    const other = await make(`"title":"by relation","other":"${id}"`);
    expect(metasOf(await admin.get(`${records}/${other}?expand=other`))).toEqual([null, shown]);
    expect(metasOf(await admin.patch(`${records}/${other}`, `{"meta":${meta}}`))).toEqual([shown]);
    const requests =
      `[{"method":"POST","collection":"things","body":{"meta":${meta}}},{"method":"PATCH","collection":"things","id":"${other}","body":{"meta":${big}}}]`;
    expect(metasOf(await admin.post(`${app.app.path}/batch`, `{"requests":${requests}}`)))
      .toEqual([shown, `number ${big}`]);
  });

  it('shows it among so much else that its text is copied', async () => {
    const long = `{"id":${big},"x":"${'x'.repeat(20_000)}","list":[0.1000000000000000055]}`;
    const id = await make(`"meta":${long}`);
    expect(metasOf(await admin.get(`${records}/${id}`))).toEqual([digits(long)]);
  });

  it('has another value when only the last digit is another', async () => {
    const id = await make(`"meta":{"a":${big}}`);
    const before = expectOk(await admin.get(`${records}/${id}`));
    expect(expectOk(await admin.patch(`${records}/${id}`, `{"meta":{"a":${big}}}`))).toEqual(before);
    const changed = await admin.patch(`${records}/${id}`, `{"meta":{"a":9007199254740992}}`);
    expect(metasOf(changed)).toEqual([{ a: 'number 9007199254740992' }]);
    expect(changed.body.updated_at).not.toBe(before.updated_at);
  });

  it.each([
    ['1e400'],
    ['-1e400'],
    ['1e-400'],
    [`0.${'0'.repeat(400)}1`],
    [`1${'0'.repeat(1_000)}`],
  ])('refuses %s', async (number) => {
    expect(await admin.post(records, `{"meta":[${number}]}`))
      .toMatchObject({ status: 400, body: { code: 'validation' } });
  });

  it('has no such number as its default', async () => {
    const schema =
      `{"schema":{"id":"d","kind":"base","fields":[{"name":"j","kind":"json","default":[${big}]}]}}`;
    const refused = await admin.post(app.collections, schema);
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(refused.text).toContain('a double cannot hold');
    expect((await admin.post(app.collections, schema.replace(big, '9007199254740992'))).status).toBe(201);
  });
});

describe('a number field', () => {
  it('refuses a whole number that would become another', async () => {
    for (const number of [big, '-12345678901234567890']) {
      expect(await admin.post(records, `{"count":${number}}`)).toMatchObject({
        status: 400,
        body: { code: 'validation', errors: [{ path: 'count' }] },
      });
    }
    const id = await make('"count":9007199254740992');
    expect((await admin.get(`${records}/${id}`)).text).toContain('"count":9007199254740992');
  });

  it('holds the double that is nearest to a decimal', async () => {
    const id = await make('"count":0.10000000000000000555');
    expect(expectOk(await admin.get(`${records}/${id}`)).fields.count).toBe(0.1);
  });
});

describe('a filter', () => {
  it.each([
    [`meta.n = ${big}`, ['3']],
    [`meta.n != ${big} && meta.n != null`, ['2', '4', '0.1', '0.1…']],
    ['meta.n > 9007199254740992', ['3', '4']],
    [`meta.n >= ${big} && meta.n < 9007199254740994`, ['3']],
    [`meta.n in [${big}, 9007199254740994]`, ['3', '4']],
    ['meta.n = 0.1', ['0.1']],
    ['meta.n = 0.1000000000000000055', ['0.1…']],
    // A field of kind number holds a double, so the other side is rounded.
    ['meta.n = count', ['2', '3', '4', '0.1', '0.1…']],
  ])('%s tells numbers apart, in lists and in streams', async (filter, expected) => {
    const { name, path } = await numbers();
    const rows: [string, string][] = [
      ['2', '9007199254740992'],
      ['3', big],
      ['4', '9007199254740994'],
      ['0.1', '0.1'],
      ['0.1…', '0.1000000000000000055'],
    ];
    const stream = await openEvents(Number(new URL(serverUrl()).port), {
      path: `${app.collections}/${name}/events`,
      filter,
    });
    for (const [title, n] of rows) {
      const members = { title, count: Number(n) };
      expectOk(await admin.post(path, `{"meta":{"n":${n}},${JSON.stringify(members).slice(1)}`));
    }
    expectOk(await admin.post(`${app.collections}/${name}/records`, { title: 'text', meta: { n: big } }));
    const found = await admin.get(`${path}?sort=created_at&filter=${encodeURIComponent(filter)}`);
    expect(titlesOf(found)).toEqual(expected);
    await stream.count(expected.length);
    expect(stream.events.map(({ data }) => data)).toMatchObject(
      expected.map((title) => ({ fields: { title } })),
    );
    stream.socket.destroy();
  });

  it('of a rule compares what the body has with all of its digits', async () => {
    const { name, path } = await numbers();
    await app.setRules(name, { create: `@request.body.meta = ${big}`, update: '@request.body.meta = meta' });
    const user = await app.user();
    const { id } = expectOk(await user.post(path, `{"meta":${big}}`));
    expect((await user.post(path, '{"meta":9007199254740992}')).status).toBe(403);
    expect((await user.patch(`${path}/${id}`, '{"meta":9007199254740992}')).status).toBe(403);
    expectOk(await user.patch(`${path}/${id}`, `{"meta":${big}}`));
  });

  let collections = 0;
  async function numbers(): Promise<{ name: string; path: string }> {
    const name = `numbers${++collections}`;
    return { name, path: await app.define(name, fields.slice(0, 3), { list: 'any' }) };
  }
});

it('events have all of the digits', async () => {
  const path = await app.define('watched', fields.slice(0, 3), { list: 'any' });
  const port = Number(new URL(serverUrl()).port);
  const stream = await openEvents(port, { path: `${app.collections}/watched/events` });
  const socket = await openSocket(port, {}, `${app.app.path}/realtime`);
  await socket.subscribe('a', { collection: 'watched' });
  const { id } = expectOk(await admin.post(path, `{"meta":${meta}}`));
  expectOk(await admin.patch(`${path}/${id}`, '{"title":"x"}'));
  expectOk(await admin.delete(`${path}/${id}`));
  await stream.count(3);
  await socket.count(4);
  const events = [...stream.body.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data);
  expect(events.flatMap(metasIn)).toEqual([shown, shown, shown]);
  expect(socket.texts.flatMap(metasIn)).toEqual([shown, shown, shown]);
  stream.socket.destroy();
  socket.socket.close();
});
