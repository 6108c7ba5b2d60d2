// Several writes in one transaction.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let ada: EndUser;
let batch: string;
let notes: string;
let tags: string;

type Request = Record<string, unknown>;

const title = { name: 'title', kind: 'text', required: true };

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  ada = await app.user();
  batch = app.collections.replace(/collections$/, 'batch');
  notes = await app.define('notes', [title, { name: 'code', kind: 'text', unique: true }], { list: 'any' });
  tags = await app.define('tags', [
    { name: 'note', kind: 'relation', target: 'notes', cascade_delete: true },
  ]);
  await app.define('owned', [title, { name: 'owner', kind: 'relation', target: 'users' }], {
    get: 'owner = @request.auth.id',
    create: 'owner = @request.auth.id',
    update: 'owner = @request.auth.id',
  });
});

function send(caller: Caller, ...requests: Request[]): Promise<ApiResponse> {
  return caller.post(batch, { requests });
}

async function create(collection: string, body: Request): Promise<string> {
  return String(expectOk(await admin.post(`${app.collections}/${collection}/records`, body)).id);
}

async function total(records: string): Promise<number> {
  return expectOk(await admin.get(records)).total_items;
}

function expectRefusal(response: ApiResponse, status: number, code: string, message: string): void {
  expectError(response, status, code);
  expect(response.body.message).toBe(message);
}

describe('a batch', () => {
  it('responds to each write as it would by itself', async () => {
    const [changed, gone] = [await create('notes', { title: 'a' }), await create('notes', { title: 'b' })];
    const id = randomUUID();
    const { results } = expectOk(
      await send(
        admin,
        { method: 'POST', collection: 'notes', body: { id, title: 'new' } },
        { method: 'PATCH', collection: 'notes', id: changed, body: { title: 'changed' } },
        { method: 'DELETE', collection: 'notes', id: gone },
      ),
    );
    expect(results).toEqual([
      { status: 201, body: expectOk(await admin.get(`${notes}/${id}`)) },
      { status: 200, body: expectOk(await admin.get(`${notes}/${changed}`)) },
      { status: 200, body: { ok: true } },
    ]);
    expect(results[1].body.fields.title).toBe('changed');
    expect((await admin.get(`${notes}/${gone}`)).status).toBe(404);
  });

  it('makes records that point to each other, and sees its own writes', async () => {
    const note = randomUUID();
    const { results } = expectOk(
      await send(
        admin,
        { method: 'POST', collection: 'notes', body: { id: note, title: 'target' } },
        { method: 'POST', collection: 'tags', body: { note } },
        { method: 'PATCH', collection: 'notes', id: note, body: { title: 'seen' } },
      ),
    );
    expect(results[1].body.fields).toEqual({ note });
    const { results: ended } = expectOk(
      await send(
        admin,
        { method: 'DELETE', collection: 'notes', id: note },
        { method: 'POST', collection: 'notes', body: { id: note, title: 'again' } },
      ),
    );
    expect(ended.map(({ status }: { status: number }) => status)).toEqual([200, 201]);
    expect((await admin.get(`${tags}/${results[1].body.id}`)).status).toBe(404);
  });

  it.each(
    [
      {
        why: 'a body that is wrong',
        refusal: [400, 'validation', 'title: is required'],
        request: { method: 'POST', collection: 'notes', body: {} },
      },
      {
        why: 'a record that is not there',
        refusal: [404, 'not_found', 'record "00000000" does not exist'],
        request: { method: 'PATCH', collection: 'notes', id: '00000000', body: { title: 'x' } },
      },
      {
        why: 'a value that is taken',
        refusal: [409, 'conflict', 'code: another record has this value'],
        request: { method: 'POST', collection: 'notes', body: { title: 'x', code: 'taken' } },
      },
      {
        why: 'a relation to nothing',
        refusal: [400, 'validation', 'note: there is no record with this id'],
        request: { method: 'POST', collection: 'tags', body: { note: randomUUID() } },
      },
      {
        why: 'a collection that is not there',
        refusal: [404, 'not_found', 'collection "none" does not exist'],
        request: { method: 'POST', collection: 'none', body: {} },
      },
    ] as const,
  )('does nothing at all because of $why, and says which', async ({ refusal, request }) => {
    const [status, code, message] = refusal;
    await admin.post(notes, { title: 'x', code: 'taken' });
    const [before, id] = [await total(notes), await create('notes', { title: 'old' })];
    const refused = await send(
      admin,
      { method: 'POST', collection: 'notes', body: { title: 'first' } },
      { method: 'PATCH', collection: 'notes', id, body: { title: 'new' } },
      request,
      { method: 'DELETE', collection: 'notes', id },
    );
    expectRefusal(refused, status, code, `requests.2: ${message}`);
    expect(await total(notes)).toBe(before + 1);
    expect(expectOk(await admin.get(`${notes}/${id}`)).fields.title).toBe('old');
  });

  it('keeps every record under its own rule', async () => {
    const foreign = await create('owned', { title: 'of nobody' });
    const mine = { method: 'POST', collection: 'owned', body: { title: 'mine', owner: ada.id } };
    const { results } = expectOk(await send(ada, mine, mine));
    expect(results).toHaveLength(2);
    const owned = `${app.collections}/owned/records`;
    const before = await total(owned);
    const forbidden = 'the access rule does not admit this';
    const theirs = { method: 'PATCH', collection: 'owned', id: foreign, body: { title: 'taken' } };
    expectRefusal(await send(ada, mine, theirs), 403, 'forbidden', `requests.1: ${forbidden}`);
    const forged = { method: 'POST', collection: 'owned', body: { title: 'forged' } };
    expectRefusal(await send(ada, mine, forged), 403, 'forbidden', `requests.1: ${forbidden}`);
    const closed = { method: 'DELETE', collection: 'owned', id: results[0].body.id };
    expectRefusal(await send(ada, mine, closed), 403, 'forbidden', `requests.1: ${forbidden}`);
    expectRefusal(
      await send(as(), mine),
      401,
      'unauthorized',
      'requests.0: the access rule asks for an access token: Authorization: Bearer <token>',
    );
    expect(await total(owned)).toBe(before);
  });

  it('says nothing of fields and records to callers without rights', async () => {
    const nonsense = { method: 'POST', collection: 'notes', body: { nonsense: 1 } };
    expectError(await send(ada, nonsense), 403, 'forbidden');
    expectError(await send(as(), nonsense), 401, 'unauthorized');
  });

  it('takes at most 100 writes, and none too', async () => {
    const requests = Array.from({ length: 101 }, (_, n) => ({
      method: 'POST',
      collection: 'notes',
      body: { title: `no. ${n}` },
    }));
    const before = await total(notes);
    expectRefusal(await send(admin, ...requests), 400, 'validation', 'requests: must have at most 100 items');
    expect(expectOk(await send(admin, ...requests.slice(1))).results).toHaveLength(100);
    expect(await total(notes)).toBe(before + 100);
    expect(expectOk(await send(as()))).toEqual({ results: [] });
  });

  it('names every member that its requests lack or must not have', async () => {
    const refused = await send(
      admin,
      { method: 'POST', collection: 'notes' },
      { method: 'POST', collection: 'notes', id: randomUUID(), body: {} },
      { method: 'PATCH', collection: 'notes', body: {} },
      { method: 'DELETE', collection: 'notes', id: randomUUID(), body: {} },
    );
    expectRefusal(
      refused,
      400,
      'validation',
      'requests.0.body: is required; requests.1.id: the id of a new record goes into its body; ' +
        'requests.2.id: is required; requests.3.body: a DELETE has none',
    );
    expectError(await send(admin, { method: 'GET', collection: 'notes' }), 400, 'validation');
    expectError(await send(admin, { method: 'POST', collection: 'notes', body: [] }), 400, 'validation');
    expectError(await admin.post(batch, {}), 400, 'validation');
  });

  it('never shows half of itself to concurrent reads', async () => {
    const pairs = await app.define('pairs', [{ name: 'n', kind: 'number' }]);
    const one = { method: 'POST', collection: 'pairs', body: { n: 1 } };
    let reading = true;
    const reader = (async () => {
      const seen = new Set<number>();
      while (reading) seen.add(await total(pairs) % 10);
      return seen;
    })();
    for (let round = 0; round < 20; round++) expectOk(await send(admin, ...Array(10).fill(one)));
    reading = false;
    expect([...await reader]).toEqual([0]);
  });

  it('record.idempotent-id: makes a record once, however often it is sent at once', async () => {
    const id = randomUUID();
    const before = await total(notes);
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        send(
          admin,
          { method: 'POST', collection: 'notes', body: { title: 'beside' } },
          { method: 'POST', collection: 'notes', body: { id, title: 'once' } },
        )),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(await total(notes)).toBe(before + 2);
  });

  it('is done again after a deadlock', async () => {
    const [one, two] = [await create('notes', { title: 'one' }), await create('notes', { title: 'two' })];
    const change = (id: string, title: string) => ({
      method: 'PATCH',
      collection: 'notes',
      id,
      body: { title },
    });
    for (let round = 0; round < 3; round++) {
      const responses = await Promise.all([
        send(admin, ...Array(20).fill(change(one, 'a')), change(two, 'a')),
        send(admin, ...Array(20).fill(change(two, 'b')), change(one, 'b')),
      ]);
      for (const response of responses) expectOk(response);
      const titles = await Promise.all([one, two].map((id) => admin.get(`${notes}/${id}`)));
      expect(new Set(titles.map(({ body }) => body.fields.title)).size).toBe(1);
    }
  });
});
