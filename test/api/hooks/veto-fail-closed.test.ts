// Before-hooks that cannot answer: nothing is written, and nobody is told that it was.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { hookedApp, seen } from '../../harness/hooked-app.ts';
import { tokenOf } from '../../harness/watched.ts';
import { type EventClient, openEvents } from '../realtime/event-client.ts';

let own: OwnWorkspace;
const clients: EventClient[] = [];

beforeAll(async () => {
  own = await ownWorkspace();
});
afterAll(() => clients.forEach(({ socket }) => socket.destroy()));

it.each([
  ['times out', 'await new Promise(() => {});', 'hook_error'],
  ['loops', 'for (;;);', 'hook_error'],
  ['crashes', 'const all = []; for (;;) all.push(new Array(1e6).fill(all.length));', 'hook_error'],
  ['throws', 'throw new Error("no");', 'hook_veto'],
])(
  'hook.veto-fail-closed: a before-hook that %s leaves no record, no event and no after-hook',
  async (_, code, response) => {
    const app = await hookedApp(
      own,
      `
    const act = async (e) => { if (e.record.fields.title === 'bad') { ${code} } };
    onRecordBeforeCreate('posts', act);
    onRecordBeforeUpdate('posts', act);
    onRecordBeforeDelete('posts', async (e) => { if (e.record.fields.count === 1) { ${code} } });
    for (const when of [onRecordAfterCreate, onRecordAfterUpdate, onRecordAfterDelete]) {
      when('posts', (e) => $app.records.create('seen', { what: e.action + ' ' + e.record.fields.title }));
    }`,
    );
    const { admin, path, records } = app;
    expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 1_500 }));
    const client = await openEvents(Number(new URL(serverUrl()).port), {
      path: `${path}/collections/posts/events`,
      token: tokenOf(admin),
    });
    clients.push(client);
    const good = expectOk(await admin.post(records('posts'), { title: 'good', count: 1 }));
    const one = `${records('posts')}/${good.id}`;
    const batch = { requests: [{ method: 'POST', collection: 'posts', body: { title: 'bad' } }] };
    const refused = [
      await admin.post(records('posts'), { title: 'bad' }),
      await admin.patch(one, { title: 'bad' }),
      await admin.delete(one),
      await admin.post(`${path}/batch`, batch),
    ];
    expect(refused.map(({ body }) => body.code)).toEqual([response, response, response, response]);
    expect(expectOk(await admin.get(records('posts'))).items).toEqual([good]);
    expectOk(await admin.post(records('posts'), { title: 'last' }));
    await client.count(2);
    expect(client.events.map(({ event }) => event)).toEqual(['record_created', 'record_created']);
    expect((await seen(app)).map(({ what }) => what)).toEqual(['create good', 'create last']);
    const log: { message: string }[] = expectOk(await admin.get(`${path}/hooks/logs?per_page=200`)).items;
    const told = log.filter(({ message }) => /^before_(create|update|delete) of posts: /.test(message));
    // A veto is the author's own word, and no fault.
    expect(told).toHaveLength(response === 'hook_veto' ? 0 : refused.length);
  },
);
