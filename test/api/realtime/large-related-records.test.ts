// Streams whose rule or filter reads large related records.
import { expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { scenario, title } from '../../harness/scenario.ts';
import { watched } from '../../harness/watched.ts';

it('ends alone when the related records are too large to be read at once, and comes back behind the events', async () => {
  const app = await scenario();
  const authors = await watched(app, { get: 'any' }, [title]);
  const author = { name: 'author', kind: 'relation', target: authors.name };
  const posts = await watched(app, { list: 'any' }, [title, author]);
  const text = 'x'.repeat(7_500_000);
  const made = await Promise.all(Array.from({ length: 10 }, () => authors.create({ title: text })));
  const requests = made.map(({ id }) => ({ method: 'POST', collection: posts.name, body: { author: id } }));
  const filter = 'author.title != "x"';
  const [looking, direct] = [await posts.watch({ filter }), await posts.watch()];
  expectOk(await app.admin.post(app.collections.replace(/collections$/, 'batch'), { requests }));
  await Promise.all([direct.count(10), looking.closed]);
  expect(looking.events).toMatchObject([{ event: 'reset' }]);
  expect(looking.body).toContain('retry: 30000');
  const back = await posts.watch({ filter, since: looking.lastEventId });
  await posts.create({ title: 'next', author: made[0].id });
  expect((await back.count(1))[0]?.event).toBe('record_created');
  back.socket.destroy();
  direct.socket.destroy();
});
