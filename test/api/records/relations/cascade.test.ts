// The records that are deleted and changed along with a record, as the deletion returns them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyRemoval } from '../../../../api/records/remove.ts';
import { writeScope } from '../../../../api/records/write-context.ts';
import { commitWrite } from '../../../../api/records/write.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import type { Connection } from '../../../../storage/connections/pool.ts';
import { type BareApp, bareApp, later, relationTo } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('authors', [{ name: 'name', kind: 'text' }]);
});
afterAll(() => app.end());

function ids(records: readonly { id: string }[]): string[] {
  return records.map(({ id }) => id).sort();
}

describe('deleting a record', () => {
  it('reports it as it was', async () => {
    await app.define('plain', [{ name: 'title', kind: 'text' }]);
    const record = await app.create('plain', { title: 'old' });
    expect(await app.remove('plain', record)).toEqual({ deleted: [record], updated: [] });
  });

  it('takes one statement where no relation points to its collection', async () => {
    await app.define('alone', []);
    const record = await app.create('alone');
    const done: string[] = [];
    const target = await app.target('alone');
    const changes = [{ action: 'delete', collection: 'alone', id: record.id }] as const;
    const { deleted } = await commitWrite(app.deps, target.app, { changes }, async (context) => {
      const noting: Connection = {
        run: (work) => {
          done.push('statement');
          return context.connection.run(work);
        },
        transaction: (work) => {
          done.push('transaction');
          return context.connection.transaction(work);
        },
      };
      const scope = writeScope({ ...context, connection: noting }, target);
      const access = unboundedAccess('delete', later);
      return { result: await applyRemoval(scope, { access, id: record.id, now: later }), written: [] };
    });
    expect(deleted).toEqual([record]);
    expect(done).toEqual(['statement']);
  });

  it('reports a record that is deleted and has a field that would be emptied, as it was', async () => {
    await app.define('twofold', [
      relationTo('authors', 'author', { cascade_delete: true }),
      relationTo('authors', 'editor'),
    ]);
    const author = await app.create('authors', { name: 'Ada' });
    const both = await app.create('twofold', { author: author.id, editor: author.id });
    const edited = await app.create('twofold', { editor: author.id });
    const { deleted, updated } = await app.remove('authors', author);
    expect(deleted).toEqual([author, both]);
    expect(ids(updated.map(({ record }) => record))).toEqual([edited.id]);
  });

  it('reports the records that are deleted with it, over several collections, as they were', async () => {
    await app.define('posts', [relationTo('authors', 'author', { cascade_delete: true })]);
    await app.define('comments', [
      { name: 'text', kind: 'text' },
      relationTo('posts', 'post', { cascade_delete: true, required: true }),
    ]);
    const author = await app.create('authors', { name: 'Ada' });
    const posts = [
      await app.create('posts', { author: author.id }),
      await app.create('posts', { author: author.id }),
    ];
    const comments = await Promise.all(
      posts.flatMap(({ id }) => [1, 2].map((n) => app.create('comments', { text: `no. ${n}`, post: id }))),
    );
    const stranger = await app.create('posts');
    const { deleted, updated } = await app.remove('authors', author);
    expect(deleted[0]).toEqual(author);
    expect(deleted.slice(1, 3)).toEqual(expect.arrayContaining(posts));
    expect(deleted.slice(3)).toEqual(expect.arrayContaining(comments));
    expect(deleted).toHaveLength(7);
    expect(updated).toEqual([]);
    expect(await app.count('comments')).toBe(0);
    expect((await app.remove('posts', stranger)).deleted).toEqual([stranger]);
  });

  it('reports the records that lose a value, once each, as they are then', async () => {
    await app.define('loose', [relationTo('authors', 'author'), relationTo('authors', 'editor'), {
      name: 'n',
      kind: 'number',
    }]);
    const author = await app.create('authors');
    const other = await app.create('authors');
    const both = await app.create('loose', { author: author.id, editor: author.id, n: 1 });
    const one = await app.create('loose', { author: author.id, editor: other.id, n: 2 });
    await app.create('loose', { author: other.id, editor: other.id, n: 3 });
    const { deleted, updated } = await app.remove('authors', author);
    expect(deleted).toEqual([author]);
    const updated_at = later.toISOString();
    expect(updated).toHaveLength(2);
    expect(updated).toEqual(expect.arrayContaining([
      { record: { ...both, fields: { author: null, editor: null, n: 1 }, updated_at }, previous: both },
      { record: { ...one, fields: { author: null, editor: other.id, n: 2 }, updated_at }, previous: one },
    ]));
  });

  it('follows records that point to each other in a circle, within a collection and between two', async () => {
    await app.define('left', []);
    await app.define('right', [relationTo('left', 'left', { cascade_delete: true, required: true })]);
    const fields = [relationTo('right', 'right', { cascade_delete: true })];
    await app.alter('left', fields);
    const left = await app.create('left');
    const right = await app.create('right', { left: left.id });
    await app.change('left', left, { right: right.id });
    expect(ids((await app.remove('left', left)).deleted)).toEqual(ids([left, right]));
    expect([await app.count('left'), await app.count('right')]).toEqual([0, 0]);
    await app.define('ring', [relationTo('ring', 'next', { cascade_delete: true })]);
    const first = await app.create('ring');
    const second = await app.create('ring', { next: first.id });
    const third = await app.create('ring', { next: second.id });
    await app.change('ring', first, { next: third.id });
    expect(ids((await app.remove('ring', second)).deleted)).toEqual(ids([first, second, third]));
    expect(await app.count('ring')).toBe(0);
    const self = await app.create('ring');
    await app.change('ring', self, { next: self.id });
    expect(ids((await app.remove('ring', self)).deleted)).toEqual([self.id]);
  });

  it('ignores a required relation whose record is deleted by another way', async () => {
    await app.define('trips', []);
    await app.define('stops', [relationTo('trips', 'trip', { cascade_delete: true })]);
    await app.define('tickets', [
      relationTo('stops', 'stop', { required: true }),
      relationTo('trips', 'trip', { cascade_delete: true }),
    ]);
    const trip = await app.create('trips');
    const stop = await app.create('stops', { trip: trip.id });
    const ticket = await app.create('tickets', { stop: stop.id, trip: trip.id });
    expect(ids((await app.remove('trips', trip)).deleted)).toEqual(ids([trip, stop, ticket]));
  });

  it('changes nothing when a required relation, however far away, would point nowhere', async () => {
    await app.define('roots', []);
    await app.define('branches', [relationTo('roots', 'root', { cascade_delete: true })]);
    await app.define('labels', [relationTo('roots', 'root')]);
    await app.define('leaves', [relationTo('branches', 'branch', { required: true })]);
    const root = await app.create('roots');
    const branch = await app.create('branches', { root: root.id });
    const label = await app.create('labels', { root: root.id });
    const leaf = await app.create('leaves', { branch: branch.id });
    await expect(app.remove('roots', root)).rejects.toMatchObject({
      code: 'conflict',
      message: 'a required relation of another record points to this record',
    });
    expect((await app.remove('leaves', leaf)).deleted).toEqual([leaf]);
    const { deleted, updated } = await app.remove('roots', root);
    expect(ids(deleted)).toEqual(ids([root, branch]));
    const record = { ...label, fields: { root: null }, updated_at: later.toISOString() };
    expect(updated).toEqual([{ record, previous: label }]);
  });

  it('misses no record that comes to point to it meanwhile', async () => {
    await app.define('racing', [relationTo('authors', 'author', { cascade_delete: true })]);
    for (let round = 0; round < 20; round++) {
      const author = await app.create('authors');
      const [{ deleted }, ...outcomes] = await Promise.all([
        app.remove('authors', author),
        ...Array.from(
          { length: 8 },
          () =>
            app.create('racing', { author: author.id }).then(
              (record) => record.id,
              (error: unknown) => error,
            ),
        ),
      ]);
      const made = outcomes.filter((outcome) => typeof outcome === 'string');
      for (const outcome of outcomes) {
        if (typeof outcome !== 'string') expect(outcome).toMatchObject({ code: 'validation' });
      }
      expect(ids(deleted)).toEqual([author.id, ...made].sort());
      expect(await app.count('racing')).toBe(0);
    }
  });
});
