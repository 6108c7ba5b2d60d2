// Views that the database decides, as they ask for related records of which there may be many.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { RuleGate } from '../../../../api/realtime/visibility/gate.ts';
import { readRelated, relatedFor } from '../../../../api/realtime/visibility/related-reads.ts';
import type { Principal } from '../../../../api/scope.ts';
import type { AppDefinition, CollectionDefinition } from '../../../../storage/definition.ts';
import { type FilteredTables, makeTables } from '../../../storage/app/filter/fixture.ts';

let tables: FilteredTables;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ tables, drop } = await makeTables());
}, 60_000);
afterAll(() => drop());

const rule = 'author.posts_via_author(owner = @request.auth.id)';

function withRule(id: string, filter: string): AppDefinition {
  const collections = [...tables.app.collections].map((
    [name, collection],
  ): [string, CollectionDefinition] => [
    name,
    { ...collection, rules: name === id ? { list: { template: 'filter', filter } } : {} },
  ]);
  return { ...tables.app, collections: new Map(collections) };
}

it('are decided at once for all callers, whatever columns their own filters read', async () => {
  const users = Array.from({ length: 8 }, () => randomUUID());
  const authors = await Promise.all(users.map(async (id, n) => {
    await tables.insertUser({ email: `${n}@example.com`, verified: true }, id);
    const author = await tables.insert('authors', { name: `${n}` });
    await tables.insert('posts', { title: 'seen', author, owner: id });
    return author;
  }));
  const app = withRule('posts', rule);
  const gate = new RuleGate({
    databases: {
      app: () => tables.pool,
      get control() {
        return tables.pool;
      },
    },
    definitions: {
      app: async () => app,
      workspace: async () => app.workspace,
      onInvalidate: () => () => undefined,
    },
    tokens: { current: (principal) => principal },
    now: () => new Date(),
  });
  const topic = { workspace: 'w', app: 'a', collection: 'posts' };
  const views = await Promise.all(users.map((id, n) => {
    const principal: Principal = { role: 'user', id, workspace: 'w', jti: 'j', issuedAt: 0, expiresAt: 9e9 };
    const filter = n % 2 === 0 ? "title = 'seen'" : 'views = null';
    return gate.authorize({ topic, principal, query: {}, filter });
  }));
  const changes = tables.records('posts').map((record) => ({
    type: 'record_updated' as const,
    record: { ...record },
  }));
  const run = vi.spyOn(tables.pool, 'run');
  const read = await readRelated(changes, views);
  expect(run).toHaveBeenCalledOnce();
  for (const [n, view] of views.entries()) {
    const seen = changes.filter((change) => view.passes(change, relatedFor(view, read)));
    expect(seen.map(({ record }) => record.fields['author'])).toEqual([authors[n]]);
  }
});
