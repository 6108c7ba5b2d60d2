// What callers may try against access rules: missing values, odd bodies, races and counts.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type EndUser, owner, scenario, title, titlesOf } from '../../harness/scenario.ts';

const app = await scenario();
const { admin } = app;
const [ada, bob] = [await app.user(), await app.user()];

describe('rule.null-logic', () => {
  it.each([
    'owner = @request.auth.id',
    'owner != @request.auth.id',
    '!(owner = @request.auth.id)',
    '!(owner != @request.auth.id)',
    'note = @request.auth.email',
    'note != @request.auth.email',
    'note ~ @request.auth.id',
    'note !~ @request.auth.id',
    '@request.auth.id != ""',
    '!(@request.auth.role = "user") && title != "x"',
    'owner in [@request.auth.id]',
    '!(owner in [@request.auth.id])',
  ])('rule.null-logic: nothing is missing enough to let an anonymous caller pass %s', async (rule) => {
    const id = `n${randomUUID().replaceAll('-', '')}`;
    const fields = [title, owner, { name: 'note', kind: 'text' }];
    const records = await app.define(id, fields, { list: rule, get: rule, update: rule, delete: rule });
    const paths = [
      await app.make(records, { title: 'of nobody', note: '' }),
      await app.make(records, { title: 'of Ada', owner: ada.id, note: 'x' }),
    ].map((record) => `${records}/${record}`);
    expectError(await as().get(records), 401, 'unauthorized');
    for (const path of paths) {
      expectError(await as().get(path), 401, 'unauthorized');
      expectError(await as().patch(path, { title: 'x' }), 401, 'unauthorized');
      expectError(await as().delete(path), 401, 'unauthorized');
    }
  });

  it('rule.null-logic: a record without an owner is nobody’s, and unlike everybody’s', async () => {
    const records = await app.define('ownerless', [title, owner], { list: 'owner = @request.auth.id' });
    await app.make(records, { title: 'of nobody' });
    expect(titlesOf(await ada.get(records))).toEqual([]);
    await app.setRules('ownerless', { list: 'owner != @request.auth.id' });
    expect(titlesOf(await ada.get(records))).toEqual(['of nobody']);
  });
});

describe('rule.update-old-and-new', () => {
  it('rule.update-old-and-new: taking a record over by writing oneself into it fails', async () => {
    const own = 'owner = @request.auth.id';
    const records = await app.define('handed', [title, owner], { get: own, update: own });
    const path = `${records}/${await app.make(records, { title: 'of Bob', owner: bob.id })}`;
    expectError(await ada.patch(path, { owner: ada.id }), 403, 'forbidden');
    expect(expectOk(await bob.get(path)).fields.owner).toBe(bob.id);
  });

  it('rule.update-old-and-new: a rule that names the body holds what the record becomes', async () => {
    const records = await app.define('kept', [title, owner], {
      update:
        'owner = @request.auth.id && (@request.body.owner = null || @request.body.owner = @request.auth.id)',
    });
    const path = `${records}/${await app.make(records, { title: 'of Ada', owner: ada.id })}`;
    expect((await ada.patch(path, { title: 'still of Ada' })).status).toBe(200);
    expect((await ada.patch(path, { owner: ada.id })).status).toBe(200);
    expectError(await ada.patch(path, { owner: bob.id }), 403, 'forbidden');
    expect(expectOk(await admin.get(path)).fields.owner).toBe(ada.id);
  });

  it.each(['create', 'update'])(
    'what is wrong with a body comes before a rule about it alone: %s',
    async (action) => {
      const records = await app.define(`asks_${action}`, [title], {
        [action]: '@request.body.title = "please"',
      });
      const path = `${records}/${await app.make(records, { title: 'a' })}`;
      const write = (body: object) => action === 'create' ? ada.post(records, body) : ada.patch(path, body);
      expectError(await write({ title: 'now', nope: 1 }), 400, 'validation');
      expectError(await write({ title: 'now' }), 403, 'forbidden');
      expect((await write({ title: 'please' })).status).toBeLessThan(300);
    },
  );
});

describe('rule.list-count', () => {
  it('rule.list-count: totals, pages and empty pages say nothing of hidden records', async () => {
    const records = await app.define('counted', [title, owner], { list: 'owner = @request.auth.id' });
    for (let n = 0; n < 5; n++) await app.make(records, { title: `a${n}`, owner: ada.id });
    for (let n = 0; n < 7; n++) await app.make(records, { title: `b${n}`, owner: bob.id });
    const first = expectOk(await ada.get(`${records}?per_page=2&sort=title`));
    expect(first).toMatchObject({ total_items: 5, total_pages: 3 });
    const last = expectOk(await ada.get(`${records}?per_page=2&sort=title&page=3`));
    expect(last).toMatchObject({ total_items: 5, items: [{ fields: { title: 'a4' } }] });
    const beyond = expectOk(await ada.get(`${records}?per_page=2&page=9`));
    expect(beyond).toMatchObject({ total_items: 5, total_pages: 3, items: [] });
    const wide = expectOk(await ada.get(`${records}?filter=title ~ "b" || title ~ "a"`));
    expect(wide).toMatchObject({ total_items: 5 });
    const none = expectOk(await ada.get(`${records}?filter=title ~ "b"`));
    expect(none).toMatchObject({ total_items: 0, total_pages: 0, items: [] });
    expect(expectOk(await admin.get(records)).total_items).toBe(12);
  });

  it('rule.list-count: a filter cannot leave its parentheses', async () => {
    const records = await app.define('fenced', [title, owner], { list: 'owner = @request.auth.id' });
    await app.make(records, { title: 'of Bob', owner: bob.id });
    for (const filter of ['1 = 1 || 1 = 1', 'title = "x" or id != null', '!(title = "x")']) {
      expect(titlesOf(await ada.get(`${records}?filter=${encodeURIComponent(filter)}`))).toEqual([]);
    }
    for (const filter of ['title = "x") or (true', '1=1) --', "title = '' ; drop table x"]) {
      expectError(
        await ada.get(`${records}?filter=${encodeURIComponent(filter)}`),
        400,
        'parse_error',
      );
    }
  });
});

describe('rule.body-ref', () => {
  const shapes: unknown[] = [undefined, null, [], {}, ['yes'], { yes: 'yes' }, [['yes']]];
  const odd: unknown[] = [...shapes, 0, '', false, 'no', 1, true];

  it('rule.body-ref: nothing without a value makes a doubly negated rule true', async () => {
    const rule = '!(@request.body.word != "yes")';
    const records = await app.define('doubly', [title, { name: 'word', kind: 'json' }], { create: rule });
    for (const word of shapes) expectError(await ada.post(records, { word }), 403, 'forbidden');
    expect((await ada.post(records, { word: 'yes' })).status).toBe(201);
  });

  it.each(['@request.body.word = "yes"', '@request.body.word in ["yes"]', '@request.body.word ~ "yes%"'])(
    'rule.body-ref: only such a text makes %s true',
    async (rule) => {
      const id = `b${randomUUID().replaceAll('-', '')}`;
      const records = await app.define(id, [title, { name: 'word', kind: 'json' }], { create: rule });
      for (const word of odd) expectError(await ada.post(records, { word }), 403, 'forbidden');
      expect((await ada.post(records, { word: 'yes' })).status).toBe(201);
    },
  );

  it.each(['@request.body.word != "no"', '!(@request.body.word = "no")', '@request.body.word !~ "no"'])(
    'rule.body-ref: what is missing or no value never makes %s true',
    async (rule) => {
      const id = `b${randomUUID().replaceAll('-', '')}`;
      const records = await app.define(id, [title, { name: 'word', kind: 'json' }], { create: rule });
      for (const word of [undefined, [], {}, ['no'], { no: 'no' }]) {
        expectError(await ada.post(records, { word }), 403, 'forbidden');
      }
      expectError(await ada.post(records, { word: 'no' }), 403, 'forbidden');
      expect((await ada.post(records, { word: 'yes' })).status).toBe(201);
    },
  );

  it('rule.body-ref: names that every object has are not members of a body', async () => {
    const records = await app.define('protos', [title], {
      create: '@request.body.constructor != null || @request.body.toString != null',
    });
    expectError(await ada.post(records, { title: 'x' }), 403, 'forbidden');
  });
});

describe('rule.toctou', () => {
  it(
    'rule.toctou: no write gets through while the owner changes 1,000 times',
    { timeout: 60_000 },
    async () => {
      const records = await app.define('contested', [title, owner], {
        update: 'owner = @request.auth.id',
        delete: 'owner = @request.auth.id',
      });
      const path = `${records}/${await app.make(records, { title: 'start', owner: ada.id })}`;
      let changing = true;
      const changes = async () => {
        for (let n = 0; n < 1_000; n++) {
          expectOk(
            await admin.patch(path, { owner: n % 2 === 0 ? bob.id : ada.id }),
          );
        }
        changing = false;
      };
      const owners = { ada: new Set<unknown>(), bob: new Set<unknown>() };
      const refusals = new Set<number>();
      const write = async (caller: EndUser, name: 'ada' | 'bob') => {
        while (changing) {
          const response = await caller.patch(path, { title: name });
          if (response.status === 200) owners[name].add(response.body.fields.owner);
          else refusals.add(response.status);
        }
      };
      await Promise.all([
        changes(),
        write(ada, 'ada'),
        write(ada, 'ada'),
        write(bob, 'bob'),
        write(bob, 'bob'),
      ]);
      // The response is the row as the write left it: its owner is who wrote, or the rule was asked of another version.
      expect(owners).toEqual({ ada: new Set([ada.id]), bob: new Set([bob.id]) });
      expect([...refusals]).toEqual([403]);
    },
  );
});
