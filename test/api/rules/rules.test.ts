// Access rules as end-users and anonymous callers meet them, on each of the five actions.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { owner, scenario, title, titlesOf } from '../../harness/scenario.ts';

const own = 'owner = @request.auth.id';
const app = await scenario();
const { admin } = app;
const [ada, bob] = [await app.user(), await app.user()];

/** A collection of one record of Ada's, one of Bob's and one of nobody's; every action is for owners. */
async function owned(id: string, rules: Record<string, string> = {}): Promise<Owned> {
  const all = {
    list: own,
    get: own,
    update: own,
    delete: own,
    create: '@request.body.owner = @request.auth.id',
  };
  const records = await app.define(id, [title, owner, { name: 'note', kind: 'json' }], { ...all, ...rules });
  const make = async (values: Record<string, unknown>) => `${records}/${await app.make(records, values)}`;
  return {
    records,
    adas: await make({ title: 'a', owner: ada.id }),
    bobs: await make({ title: 'b', owner: bob.id }),
    nobodys: await make({ title: 'n' }),
  };
}

interface Owned {
  records: string;
  adas: string;
  bobs: string;
  nobodys: string;
}

describe('an owner’s records', () => {
  it('are listed, read, changed and deleted by their owner', async () => {
    const { records, adas } = await owned('kept');
    expect(titlesOf(await ada.get(records))).toEqual(['a']);
    expect(expectOk(await ada.get(adas)).fields.title).toBe('a');
    expect(expectOk(await ada.patch(adas, { title: 'a2' })).fields).toMatchObject({
      title: 'a2',
      owner: ada.id,
    });
    expect((await ada.delete(adas)).body).toEqual({ ok: true });
    expectError(await ada.get(adas), 404, 'not_found');
  });

  it('are hidden from all others, whatever they do', async () => {
    const { records, bobs, nobodys } = await owned('hidden');
    for (const path of [bobs, nobodys]) {
      for (const [caller, status, code] of [[ada, 403, 'forbidden'], [as(), 401, 'unauthorized']] as const) {
        expectError(await caller.get(path), status, code);
        expectError(await caller.patch(path, { title: 'taken' }), status, code);
        expectError(await caller.delete(path), status, code);
      }
      expect(expectOk(await admin.get(path)).fields.title).not.toBe('taken');
    }
    expectError(await as().get(records), 401, 'unauthorized');
  });

  it('are 404 to a signed-in caller once they are not there', async () => {
    const { records } = await owned('missing');
    const ghost = `${records}/${randomUUID()}`;
    expectError(await ada.get(ghost), 404, 'not_found');
    expectError(await ada.patch(ghost, { title: 'x' }), 404, 'not_found');
    expectError(await ada.delete(ghost), 404, 'not_found');
    // The rule refuses an anonymous caller without a look at any record.
    expectError(await as().get(ghost), 401, 'unauthorized');
  });

  it('are all an admin’s to use', async () => {
    const { records, bobs } = await owned('governed');
    expect(titlesOf(await admin.get(`${records}?sort=title`))).toEqual(['a', 'b', 'n']);
    expect((await admin.patch(bobs, { title: 'b2' })).status).toBe(200);
    expect((await admin.delete(bobs)).status).toBe(200);
  });
});

describe('a create', () => {
  it('is judged by the record as it would be stored, defaults and rounding included', async () => {
    const fields = [title, owner, { name: 'state', kind: 'text', default: 'draft' }, {
      name: 'at',
      kind: 'datetime',
    }];
    const records = await app.define('posts', fields, {
      create: 'owner = @request.auth.id && state = "draft" && (at = null || at = "2026-01-01T00:00:00.001Z")',
    });
    expect((await ada.post(records, { owner: ada.id, title: 'x' })).status).toBe(201);
    expect((await ada.post(records, { owner: ada.id, at: '2026-01-01T00:00:00.0012Z' })).status).toBe(201);
    for (const body of [{ owner: bob.id }, { owner: ada.id, state: 'public' }, {}]) {
      expectError(await ada.post(records, body), 403, 'forbidden');
    }
    expectError(await as().post(records, { owner: ada.id }), 401, 'unauthorized');
    expect(expectOk(await admin.get(records)).total_items).toBe(2);
  });

  it('looks through relations of the record that would be stored', async () => {
    await app.define('teams', [owner, title], { get: 'auth' });
    const tasks = await app.define('tasks', [{ name: 'team', kind: 'relation', target: 'teams' }, title], {
      create: 'team.owner = @request.auth.id',
      update: 'team.owner = @request.auth.id',
    });
    const team = expectOk(await admin.post(`${app.collections}/teams/records`, { owner: ada.id })).id;
    const { id } = expectOk(await ada.post(tasks, { team, title: 'x' }));
    expectError(await bob.post(tasks, { team, title: 'x' }), 403, 'forbidden');
    expectError(await bob.patch(`${tasks}/${id}`, { title: 'y' }), 403, 'forbidden');
    expect((await ada.patch(`${tasks}/${id}`, { title: 'y' })).status).toBe(200);
  });

  it('says nothing of a taken id to a caller whom the rule refuses', async () => {
    const { records, bobs } = await owned('taken');
    const id = bobs.slice(records.length + 1);
    expectError(await ada.post(records, { id, owner: bob.id }), 403, 'forbidden');
    expectError(await ada.post(records, { id, owner: ada.id }), 409, 'conflict');
  });
});

describe('a stranger', () => {
  it('learns nothing of fields, bodies and records', async () => {
    const { records, adas } = await owned('closed');
    const odd: [string, () => Promise<ApiResponse>][] = [
      ['an unknown field', () => as().post(records, { nope: 1 })],
      ['no JSON at all', () => as().post(records, 'nonsense')],
      ['an unknown filter', () => as().get(`${records}?filter=nope=1`)],
      ['a filter that does not parse', () => as().get(`${records}?filter=(((`)],
      ['an unknown sort', () => as().get(`${records}?sort=nope`)],
      ['a page that is none', () => as().get(`${records}?page=0`)],
      ['an id that is none', () => as().get(`${records}/nonsense`)],
      ['a change of what is not there', () => as().patch(`${records}/${randomUUID()}`, { nope: 1 })],
      ['an unknown field of a record', () => as().patch(adas, { nope: 1 })],
    ];
    for (const [what, ask] of odd) {
      const response = await ask();
      expect([what, response.status, response.body.code]).toEqual([what, 401, 'unauthorized']);
    }
  });

  it('is let on to the body only where the rule needs it', async () => {
    const records = await app.define('asked', [title, owner], {
      create: '@request.body.title = "please" && @request.auth.id = null',
    });
    expect((await as().post(records, { title: 'please' })).status).toBe(201);
    expectError(await as().post(records, { title: 'now' }), 401, 'unauthorized');
    expectError(await as().post(records, 'nonsense'), 422, 'deserialization');
    expectError(await ada.post(records, 'nonsense'), 403, 'forbidden');
  });
});

describe('a rule over the request', () => {
  it('reads the caller’s email and role', async () => {
    const records = await app.define('mailed', [{ name: 'to', kind: 'email' }], {
      list: 'to = @request.auth.email && @request.auth.role = "user"',
    });
    expectOk(await admin.post(records, { to: ada.email }));
    expectOk(await admin.post(records, { to: 'somebody@example.com' }));
    expect(expectOk(await ada.get(records)).items).toMatchObject([{ fields: { to: ada.email } }]);
    expect(expectOk(await bob.get(records)).total_items).toBe(0);
    expectError(await as().get(records), 401, 'unauthorized');
  });

  it('reads parameters of the query and the method', async () => {
    const records = await app.define('keyed', [title], {
      get: 'title = @request.query.key && @request.method = "GET"',
      delete: '@request.method = "GET"',
    });
    const { id } = expectOk(await admin.post(records, { title: 'open sesame' }));
    expect((await as().get(`${records}/${id}?key=open+sesame`)).status).toBe(200);
    expect((await as().get(`${records}/${id}?key=open+sesame&key=x`)).status).toBe(200);
    expectError(await as().get(`${records}/${id}?key=x&key=open+sesame`), 401, 'unauthorized');
    expectError(await as().get(`${records}/${id}`), 401, 'unauthorized');
    expectError(await ada.delete(`${records}/${id}`), 403, 'forbidden');
  });

  it('is told the method by which each action is asked for', async () => {
    const methods = { list: 'GET', get: 'GET', create: 'POST', update: 'PATCH', delete: 'DELETE' };
    const rules = (operator: '=' | '!=') =>
      Object.fromEntries(
        Object.entries(methods).map((
          [action, method],
        ) => [action, `@request.method ${operator} "${method}"`]),
      );
    const records = await app.define('methods', [title], rules('!='));
    const path = `${records}/${await app.make(records, { title: 'x' })}`;
    const ask = [
      () => ada.get(records),
      () => ada.get(path),
      () => ada.post(records, {}),
      () => ada.patch(path, {}),
      () => ada.delete(path),
    ];
    for (const one of ask) expectError(await one(), 403, 'forbidden');
    await app.setRules('methods', rules('='));
    for (const one of ask) expectOk(await one());
  });
});
