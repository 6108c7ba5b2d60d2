// Streams of records with JSON fields, whose rules and filters look into them.
import { beforeAll, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';
import { titlesOf, type Watched, watched } from '../../harness/watched.ts';

const json = { name: 'meta', kind: 'json' };

let app: Scenario;
let authors: Watched;
let posts: Watched;

beforeAll(async () => {
  app = await scenario();
  authors = await watched(app, { get: 'any' }, [title, json]);
  const author = { name: 'author', kind: 'relation', target: authors.name };
  posts = await watched(app, { list: 'meta.open = true' }, [title, json, author]);
});

it('show the same JSON as lists, of records that pass by theirs and by that of others', async () => {
  const stream = await posts.watch({ filter: 'author.meta.tags.0 = "x" && meta.list.1 != 2' });
  const [x, y] = [await authors.create({ meta: { tags: ['x'] } }), await authors.create({ meta: 'x' })];
  const meta = { open: true, list: [1, 3], 'a "key"\n': [{}, null, 1e-7] };
  const seen = await posts.create({ title: 'seen', meta, author: x.id });
  await posts.create({ title: 'of another', meta, author: y.id });
  await posts.create({ title: 'shut', meta: { ...meta, open: 'true' }, author: x.id });
  await posts.create({ title: 'filtered out', meta: { ...meta, list: [1, 2] }, author: x.id });
  await posts.change(seen.id, { title: 'changed' });
  await posts.remove(seen.id);
  await stream.count(3);
  expect(titlesOf(stream)).toEqual(['seen', 'changed', 'changed']);
  expect(stream.events[0]?.data).toEqual(seen);
  expect(stream.events[0]?.data).toMatchObject({ fields: { meta } });
  stream.socket.destroy();
});

it('end when what they look into is too large to be read at once', async () => {
  const meta = { tags: Array.from({ length: 90_000 }, () => ({})), text: 'x'.repeat(2_000_000) };
  const made = await Promise.all(Array.from({ length: 8 }, () => authors.create({ meta })));
  const requests = made.map(({ id }) => ({
    method: 'POST',
    collection: posts.name,
    body: { author: id, meta: { open: true } },
  }));
  const looking = await posts.watch({ filter: 'author.meta.text != "x"' });
  expectOk(await app.admin.post(app.collections.replace(/collections$/, 'batch'), { requests }));
  await looking.closed;
  expect(looking.events).toMatchObject([{ event: 'reset' }]);
});
