// Record hooks over HTTP: what they change and veto, for every way in which a record changes.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { upload } from '../../harness/file-app.ts';
import { type HookedApp, hookedApp, seen } from '../../harness/hooked-app.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

function hooked(source: string): Promise<HookedApp> {
  return hookedApp(own, source);
}

describe('a before-hook', () => {
  it('sees the record as it would be stored, and changes what is', async () => {
    const app = await hooked(`
      onRecordBeforeCreate('posts', (e) => {
        e.record.fields.meta = { was: { ...e.record.fields }, by: e.auth?.role, action: e.action };
        e.record.fields.title = (e.record.fields.title as string).trim();
      });`);
    const made = expectOk(
      await app.admin.post(app.records('posts'), { title: ' a ', count: 1, done: false }),
    );
    expect(made.fields).toEqual({
      title: 'a',
      count: 1,
      done: false,
      meta: { was: { title: ' a ', count: 1, done: false, meta: null }, by: 'app_admin', action: 'create' },
    });
  });

  it('has its changes checked like those of a caller', async () => {
    const app = await hooked(`
      onRecordBeforeCreate('posts', (e) => { e.record.fields.count = 'many'; });`);
    const response = await app.admin.post(app.records('posts'), { title: 'a' });
    expect(response.body).toEqual({
      code: 'validation',
      message: 'count: must be a number',
      errors: [{ path: 'count', code: 'invalid', message: 'must be a number' }],
    });
    expect(expectOk(await app.admin.get(app.records('posts'))).items).toEqual([]);
  });

  it('vetoes by throwing and by false, and nothing is written or told', async () => {
    const app = await hooked(`
      onRecordBeforeCreate('posts', (e) => { if (e.record.fields.title === 'bad') throw new Error('no bad posts'); });
      onRecordBeforeUpdate('posts', () => false);
      onRecordBeforeDelete('posts', async () => { throw new Error('stays'); });
      onRecordAfterCreate('posts', async (e) => { await $app.records.create('seen', { what: 'created' }); });
      onRecordAfterUpdate('posts', async (e) => { await $app.records.create('seen', { what: 'updated' }); });
      onRecordAfterDelete('posts', async (e) => { await $app.records.create('seen', { what: 'deleted' }); });`);
    const { admin, records } = app;
    expect((await admin.post(records('posts'), { title: 'bad' })).body)
      .toEqual({ code: 'hook_veto', message: 'no bad posts' });
    const { id, ...made } = expectOk(await admin.post(records('posts'), { title: 'good' }));
    expect((await admin.patch(`${records('posts')}/${id}`, { title: 'x' })).body.code).toBe('hook_veto');
    expect((await admin.delete(`${records('posts')}/${id}`)).body)
      .toEqual({ code: 'hook_veto', message: 'stays' });
    expect(expectOk(await admin.get(`${records('posts')}/${id}`))).toEqual({ id, ...made });
    expect((await seen(app)).map(({ what }) => what)).toEqual(['created']);
  });

  it('of an update sees both records and keeps what it leaves', async () => {
    const app = await hooked(`
      onRecordBeforeUpdate('posts', (e) => {
        e.record.fields.meta = { from: e.previous.fields.title, to: e.record.fields.title };
      });`);
    const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'a', count: 7 }));
    const changed = expectOk(await app.admin.patch(`${app.records('posts')}/${id}`, { title: 'b' }));
    expect(changed.fields).toEqual({ title: 'b', count: 7, done: null, meta: { from: 'a', to: 'b' } });
  });

  it('runs again when the record changes while it thinks', async () => {
    const app = await hooked(`
      let first = true;
      onRecordBeforeUpdate('posts', async (e) => {
        if (e.record.fields.title !== 'mine' || !first) return;
        first = false;
        await $app.records.update('posts', e.record.id, { count: 5 });
      });`);
    const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'a', count: 1 }));
    const changed = expectOk(await app.admin.patch(`${app.records('posts')}/${id}`, { title: 'mine' }));
    expect(changed.fields).toMatchObject({ title: 'mine', count: 5 });
  });

  it('is not called for a caller whom the rule refuses, or a body that is wrong', async () => {
    const app = await hooked(`
      onRecordBeforeCreate('posts', async (e) => { await $app.records.create('seen', { what: 'asked' }); });`);
    const rules = `${app.path}/collections/posts/access_rules`;
    expectOk(await app.admin.put(`${rules}/create`, { template: 'filter', filter: "title = 'open'" }));
    expect((await as().post(app.records('posts'), { title: 'shut' })).status).toBe(401);
    expect((await app.admin.post(app.records('posts'), { nope: 1 })).status).toBe(400);
    expect(await seen(app)).toEqual([]);
    expectOk(await as().post(app.records('posts'), { title: 'open' }));
    expect(await seen(app)).toEqual([{ what: 'asked', data: null }]);
  });
});

describe('hooks fire for every way in which a record changes', () => {
  const everything = ['Create', 'Update', 'Delete'].map((action) => `
    onRecordBefore${action}('comments', (e) => {
      if (e.record.fields.text === 'forbidden') throw new Error('vetoed');
      if ('${action}' !== 'Delete' && e.record.fields.text === 'old') e.record.fields.text = 'new';
    });
    onRecordAfter${action}('comments', async (e) => {
      await $app.records.create('seen', { what: '${action}', data: [e.previous?.fields.text ?? null, e.record.fields.text] });
    });`).join('');

  it('a batch', async () => {
    const app = await hooked(everything);
    const id = '01890000-0000-7000-8000-000000000001';
    const requests = [
      { method: 'POST', collection: 'comments', body: { id, text: 'old' } },
      { method: 'PATCH', collection: 'comments', id, body: { text: 'second' } },
      { method: 'DELETE', collection: 'comments', id },
    ];
    const response = expectOk(await app.admin.post(`${app.path}/batch`, { requests }));
    expect(response.results[0].body.fields.text).toBe('new');
    expect(await seen(app)).toEqual([
      { what: 'Create', data: [null, 'new'] },
      { what: 'Update', data: ['new', 'second'] },
      { what: 'Delete', data: [null, 'second'] },
    ]);
  });

  it('a batch of which one write is vetoed does nothing', async () => {
    const app = await hooked(everything);
    const requests = ['fine', 'forbidden'].map((text) => ({
      method: 'POST',
      collection: 'comments',
      body: { text },
    }));
    const response = await app.admin.post(`${app.path}/batch`, { requests });
    expect(response.body).toEqual({ code: 'hook_veto', message: 'requests.1: vetoed' });
    expect(await seen(app)).toEqual([]);
    expect(expectOk(await app.admin.get(app.records('comments'))).items).toEqual([]);
  });

  it('a cascade', async () => {
    const app = await hooked(everything);
    const { admin, records } = app;
    const post = expectOk(await admin.post(records('posts'), { title: 'p' }));
    expectOk(await admin.post(records('comments'), { post: post.id, text: 'goes' }));
    const left = expectOk(await admin.post(records('comments'), { about: post.id, text: 'stays' }));
    expectOk(await admin.delete(`${records('posts')}/${post.id}`));
    expect((await seen(app)).slice(2)).toEqual([
      { what: 'Update', data: ['stays', 'stays'] },
      { what: 'Delete', data: [null, 'goes'] },
    ]);
    expect(expectOk(await admin.get(`${records('comments')}/${left.id}`)).fields.about).toBeNull();
  });

  it('a cascade shows what a record pointed to that is emptied, in the order of the events', async () => {
    const app = await hooked(`
      const note = (when) => (e) => $app.records.create('seen', {
        what: when + e.action, data: [e.record.fields.about ?? null, e.previous?.fields.about ?? null],
      });
      onRecordBeforeUpdate('comments', (e) => {
        e.record.fields.text = (e.previous.fields.about === null) + ' ' + (e.record.fields.about === null);
      });
      onRecordAfterUpdate('comments', note('after '));
      onRecordAfterDelete('posts', note('after '));`);
    const { admin, records } = app;
    const post = expectOk(await admin.post(records('posts'), { title: 'p' }));
    const left = expectOk(await admin.post(records('comments'), { about: post.id, text: 'stays' }));
    expectOk(await admin.delete(`${records('posts')}/${post.id}`));
    expect(await seen(app)).toEqual([
      { what: 'after update', data: [null, post.id] },
      { what: 'after delete', data: [null, null] },
    ]);
    expect(expectOk(await admin.get(`${records('comments')}/${left.id}`)).fields.text).toBe('false true');
  });

  it('a cascade that a hook vetoes leaves everything', async () => {
    const app = await hooked(`onRecordBeforeDelete('comments', () => false);`);
    const { admin, records } = app;
    const post = expectOk(await admin.post(records('posts'), { title: 'p' }));
    const comment = expectOk(await admin.post(records('comments'), { post: post.id, text: 'goes' }));
    // Nothing points to the comment: by itself it would take a single statement.
    for (const path of [`${records('posts')}/${post.id}`, `${records('comments')}/${comment.id}`]) {
      expect((await admin.delete(path)).body.code).toBe('hook_veto');
      expect((await admin.get(path)).status).toBe(200);
    }
  });

  it('the deletion of a file that records hold', async () => {
    const app = await hooked(`
      onRecordBeforeUpdate('covers', (e) => {
        if (e.previous.fields.text === 'forbidden') throw new Error('vetoed');
        e.record.fields.text = 'lost ' + (e.record.fields.file === null);
      });
      onRecordAfterUpdate('covers', (e) => $app.records.create('seen', { what: e.action, data: [e.record.fields.text] }));`);
    const { admin, path, records } = app;
    const fields = [{ name: 'file', kind: 'file' }, { name: 'text', kind: 'text' }];
    expectOk(await admin.post(`${path}/collections`, { schema: { id: 'covers', kind: 'base', fields } }));
    const [held, kept] = [await upload(admin, app, 'x'), await upload(admin, app, 'y')];
    const cover = expectOk(await admin.post(records('covers'), { file: held.id, text: 'has one' }));
    expectOk(await admin.post(records('covers'), { file: kept.id, text: 'forbidden' }));
    expectOk(await admin.delete(`${path}/files/${held.id}`));
    expect(expectOk(await admin.get(`${records('covers')}/${cover.id}`)).fields).toEqual({
      file: null,
      text: 'lost true',
    });
    expect(await seen(app)).toEqual([{ what: 'update', data: ['lost true'] }]);
    expect((await admin.delete(`${path}/files/${kept.id}`)).body.code).toBe('hook_veto');
    expectOk(await admin.get(`${path}/files/${kept.id}/meta`));
  });

  it.each([[3, 201], [4, 400]])(
    'rpc.reentrancy: a chain of %i writes of hooks is answered %i',
    async (links, status) => {
      const app = await hooked(`
      onRecordBeforeCreate('posts', async (e) => {
        const count = e.record.fields.count;
        if (count < ${links}) await $app.records.create('posts', { count: count + 1 });
      });`);
      const response = await app.admin.post(app.records('posts'), { count: 0 });
      expect(response.status).toBe(status);
      const { total_items } = expectOk(await app.admin.get(app.records('posts')));
      expect(total_items).toBe(status === 201 ? links + 1 : 0);
    },
  );

  it('rpc.reentrancy: a hook that writes to its own trigger is stopped four deep', async () => {
    const app = await hooked(`
      onRecordBeforeCreate('posts', async (e) => {
        await $app.records.create('posts', { title: e.record.fields.title, count: e.record.fields.count + 1 });
      });`);
    const response = await app.admin.post(app.records('posts'), { title: 'a', count: 0 });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.body.message).toContain('deep');
    expect(expectOk(await app.admin.get(app.records('posts'))).items).toEqual([]);
  });
});
