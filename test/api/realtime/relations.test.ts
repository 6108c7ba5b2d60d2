// Live changes under rules and filters that read related records: a stream shows the records of a list.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import {
  relationTo,
  titlesOf,
  tokenOf,
  type Watched,
  watched,
  watchedFields,
} from '../../harness/watched.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';

let app: Scenario;
let ada: EndUser;
let bob: EndUser;

beforeAll(async () => {
  app = await scenario();
  [ada, bob] = [await app.user(), await app.user()];
});

/** Orgs with an owner, authors in orgs, posts by authors. */
async function press(rules: { posts: Record<string, string>; authors?: Record<string, string> }) {
  const orgs = await watched(app, {}, [{ name: 'title', kind: 'text' }, relationTo('users', 'owner')]);
  const authors = await watched(app, rules.authors ?? {}, [
    { name: 'title', kind: 'text' },
    relationTo(orgs.name, 'org', { cascade_delete: true }),
  ]);
  const posts = await watched(app, rules.posts, [
    ...watchedFields,
    relationTo(authors.name, 'author', { cascade_delete: true }),
    relationTo('users', 'editor'),
  ]);
  return { orgs, authors, posts };
}

const watchAs = (posts: Watched, user: EndUser, filter?: string) =>
  posts.watch({ token: tokenOf(user), ...(filter === undefined ? {} : { filter }) });

describe('a rule with relations on a stream', () => {
  it('sse.authz-live: lets a member of the organisation see its posts, and nobody else', async () => {
    const { orgs, authors, posts } = await press({ posts: { list: 'author.org.owner = @request.auth.id' } });
    const [hers, his] = [await watchAs(posts, ada), await watchAs(posts, bob)];
    const org = await orgs.create({ title: 'org', owner: ada.id });
    const other = await orgs.create({ title: 'other', owner: bob.id });
    const [one, two] = [await authors.create({ org: org.id }), await authors.create({ org: other.id })];
    await posts.create({ title: 'of nobody' });
    const first = await posts.create({ title: 'for ada', author: one.id });
    await posts.create({ title: 'for bob', author: two.id });
    await posts.change(first.id, { author: two.id, title: 'now for bob' });
    await hers.count(1);
    await his.count(2);
    // The organisation has another owner: from here on the next event is judged.
    await orgs.change(org.id, { owner: bob.id });
    await posts.create({ title: 'handed over', author: one.id });
    await his.count(3);
    expect(titlesOf(hers)).toEqual(['for ada']);
    expect(titlesOf(his)).toEqual(['for bob', 'now for bob', 'handed over']);
    hers.socket.destroy();
    his.socket.destroy();
  });

  it('sse.authz-live: shows a deletion to those who saw the record, also when all that the rule looks at went with it', async () => {
    const { orgs, authors, posts } = await press({ posts: { list: 'author.org.owner = @request.auth.id' } });
    const org = await orgs.create({ owner: ada.id });
    const author = await authors.create({ org: org.id });
    const post = await posts.create({ title: 'post', author: author.id });
    const [hers, his] = [await watchAs(posts, ada), await watchAs(posts, bob)];
    await orgs.remove(org.id);
    const [gone] = await hers.count(1);
    expect(gone).toMatchObject({ event: 'record_deleted', data: post });
    const mine = await orgs.create({ owner: bob.id });
    await posts.create({ title: 'next', author: (await authors.create({ org: mine.id })).id });
    await his.count(1);
    expect(titlesOf(his)).toEqual(['next']);
    // A replay finds those records nowhere but in the log.
    const back = await posts.watch({ token: tokenOf(ada), since: idBefore(hers.body) });
    expect((await back.count(1))[0]).toMatchObject({ event: 'record_deleted', data: post });
    for (const { socket } of [hers, his, back]) socket.destroy();
  });

  it('looks at users', async () => {
    const { posts } = await press({ posts: { list: 'editor.email = @request.auth.email' } });
    const hers = await watchAs(posts, ada);
    await posts.create({ title: 'for bob', editor: bob.id });
    await posts.create({ title: 'for ada', editor: ada.id });
    await hers.count(1);
    expect(titlesOf(hers)).toEqual(['for ada']);
    hers.socket.destroy();
  });

  it('shows records of one batch that went together, in their order', async () => {
    const { orgs, authors, posts } = await press({ posts: { list: 'author.org.owner = @request.auth.id' } });
    const org = await orgs.create({ owner: ada.id });
    const author = await authors.create({ org: org.id });
    const hers = await watchAs(posts, ada);
    const post = await posts.create({ title: 'a', author: author.id });
    await hers.count(1);
    const remove = (collection: string, id: string) => ({ method: 'DELETE', collection, id });
    expectOk(
      await app.admin.post(app.collections.replace(/collections$/, 'batch'), {
        requests: [remove(posts.name, post.id), remove(authors.name, author.id), remove(orgs.name, org.id)],
      }),
    );
    expect((await hers.count(2))[1]).toMatchObject({ event: 'record_deleted', data: post });
    hers.socket.destroy();
  });
});

describe('a filter with relations on a stream', () => {
  it('rule.relation-target: looks only at what its caller may get', async () => {
    const { orgs, authors, posts } = await press({
      posts: { list: 'any' },
      authors: { get: 'title != "secret"' },
    });
    await app.setRules(orgs.name, { get: 'any' });
    const { id: org } = await orgs.create({ title: 'org' });
    const [open, secret] = [
      await authors.create({ title: 'open', org }),
      await authors.create({ title: 'secret', org }),
    ];
    const clients = {
      named: await watchAs(posts, ada, 'author.title ~ "e"'),
      turned: await watchAs(posts, ada, '!(author.title ~ "e")'),
      admin: await posts.watch({ token: tokenOf(app.admin), filter: 'author.title ~ "e"' }),
      org: await watchAs(posts, ada, 'author.org != null'),
      // What is hidden leads nowhere, be it to what may be seen.
      through: await watchAs(posts, ada, 'author.org.title = "org"'),
    };
    await posts.create({ title: 'by secret', author: secret.id });
    await posts.create({ title: 'by open', author: open.id });
    await posts.create({ title: 'by nobody' });
    await clients.named.count(1);
    await clients.turned.count(2);
    await clients.admin.count(2);
    await clients.org.count(1);
    await clients.through.count(1);
    expect(titlesOf(clients.named)).toEqual(['by open']);
    expect(titlesOf(clients.turned)).toEqual(['by secret', 'by nobody']);
    expect(titlesOf(clients.admin)).toEqual(['by secret', 'by open']);
    expect(titlesOf(clients.org)).toEqual(['by open']);
    expect(titlesOf(clients.through)).toEqual(['by open']);
    for (const { socket } of Object.values(clients)) socket.destroy();
  });

  it('sees a deletion through as many records that went with it as filters and rules can follow', async () => {
    const chain: Watched[] = [];
    for (let n = 0; n < 7; n++) {
      const above = chain.at(-1);
      const up = above === undefined ? [] : [relationTo(above.name, 'up', { cascade_delete: true })];
      const get = n === 3 ? 'up.up.up.title = "root"' : 'any';
      chain.push(await watched(app, { list: 'any', get }, [{ name: 'title', kind: 'text' }, ...up]));
    }
    let up: string | undefined;
    const ids: string[] = [];
    for (const [n, { create }] of chain.entries()) {
      up = (await create({ title: n === 0 ? 'root' : 'x', ...(up === undefined ? {} : { up }) })).id;
      ids.push(String(up));
    }
    const [first, last] = [chain.at(0), chain.at(-1)];
    const hers = await last?.watch({ token: tokenOf(ada), filter: 'up.up.up.title = "x"' });
    await first?.remove(ids[0] ?? '');
    expect((await hers?.count(1))?.[0]).toMatchObject({ event: 'record_deleted', data: { id: ids.at(-1) } });
    hers?.socket.destroy();
  });

  it('rule.relation-target: sees of the users its own caller only', async () => {
    const { posts } = await press({ posts: { list: 'any' } });
    const clients = await Promise.all([ada, bob].map((user) => watchAs(posts, user, 'editor.email != null')));
    await posts.create({ title: 'bob', editor: bob.id });
    await posts.create({ title: 'ada', editor: ada.id });
    await Promise.all(clients.map((client) => client.count(1)));
    expect(clients.map(titlesOf)).toEqual([['ada'], ['bob']]);
    for (const { socket } of clients) socket.destroy();
  });

  it('rule.relation-target: sees of other records what its own caller may get, whoever asks the same', async () => {
    const { orgs, authors, posts } = await press({
      posts: { list: 'any' },
      authors: { get: 'org.owner = @request.auth.id' },
    });
    const clients = await Promise.all([ada, bob].map((user) => watchAs(posts, user, 'author.title = "x"')));
    for (const { id } of [bob, ada]) {
      const author = await authors.create({ title: 'x', org: (await orgs.create({ owner: id })).id });
      await posts.create({ title: id, author: author.id });
    }
    await Promise.all(clients.map((client) => client.count(1)));
    expect(clients.map(titlesOf)).toEqual([[ada.id], [bob.id]]);
    for (const { socket } of clients) socket.destroy();
  });

  it('follows a rule of the related records that changes', async () => {
    const { authors, posts } = await press({ posts: { list: 'any' }, authors: { get: 'any' } });
    const author = await authors.create({ title: 'x' });
    const filter = 'author.title = "x"';
    const hers = await watchAs(posts, ada, filter);
    const all = await posts.watch({ token: tokenOf(app.admin), filter });
    await posts.create({ title: 'seen', author: author.id });
    await hers.count(1);
    await app.setRules(authors.name, { get: 'admin' });
    await posts.create({ title: 'hidden', author: author.id });
    await all.count(2);
    await app.setRules(authors.name, { get: 'auth' });
    await posts.create({ title: 'seen again', author: author.id });
    await hers.count(2);
    expect(titlesOf(hers)).toEqual(['seen', 'seen again']);
    hers.socket.destroy();
    all.socket.destroy();
  });

  it('ends alone when the related records cannot be read, and can be asked for again', async () => {
    const { authors, posts } = await press({ posts: { list: 'any' }, authors: { get: 'any' } });
    const author = await authors.create({ title: 'x' });
    const post = await posts.create({ title: 'one', author: author.id });
    const filter = 'author.title = "x" || author.org.title = "y"';
    const [looking, direct] = [await watchAs(posts, ada, filter), await watchAs(posts, bob)];
    const other = await watchAs(posts, ada, 'editor.email = null');
    await app.inDatabase(async (sql) => {
      const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
        select schemaname as schema from pg_tables where tablename = ${authors.name}`;
      await sql.unsafe(`begin; set local role ${quoteIdentifier(schema)}`);
      await sql.unsafe(`lock table ${quoteIdentifier(schema)}.${quoteIdentifier(authors.name)}`);
      await posts.change(post.id, { title: 'two' });
      await direct.count(1);
      expect(looking.socket.closed).toBe(false);
      await looking.closed;
      await sql`rollback`;
    });
    expect([looking.events, direct.socket.closed]).toEqual([[], false]);
    // As a browser does by itself: nothing is lost.
    const back = await posts.watch({ token: tokenOf(ada), filter, since: looking.lastEventId });
    await posts.change(post.id, { title: 'three' });
    for (const client of [back, direct, other]) {
      await client.count(2);
      expect(titlesOf(client)).toEqual(['two', 'three']);
      client.socket.destroy();
    }
  });
});

/** The cursor with which a stream began. */
function idBefore(body: string): string {
  return /^id: (.*)$/m.exec(body)?.[1] ?? '';
}
