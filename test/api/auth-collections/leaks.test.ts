// A user of a tenant tries to read the profile of another through streams and hooks.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnApp, serverUrl } from '../../harness/api.ts';
import { type Member, type Neighbours, neighbours } from '../../harness/neighbours.ts';
import { password } from '../../harness/profiles.ts';
import { freshEmail } from '../../harness/users.ts';
import { openEvents } from '../realtime/event-client.ts';
import { openSocket } from '../realtime/socket-client.ts';

const port = Number(new URL(serverUrl()).port);
let app: OwnApp;
let members: string;
let posts: string;
let vera: Member;
let mallory: Member;
let stateOf: Neighbours['stateOf'];

beforeAll(async () => {
  ({ app, members, posts, vera, mallory, stateOf } = await neighbours());
});

describe('streams of a hostile user', () => {
  const at = (collection: string) => `${app.path}/collections/${collection}/events`;

  it('sse.authz-live: show no profile but its own, whatever they filter', async () => {
    const { token } = mallory;
    const filters = [undefined, 'email != null', 'nick = "changed"', `id = "${vera.id}" || id != null`];
    const streams = await Promise.all(
      filters.map((filter) =>
        openEvents(port, { path: at('members'), token, ...(filter === undefined ? {} : { filter }) })
      ),
    );
    expectOk(await vera.self.patch(`${members}/${vera.id}`, { nick: 'changed' }));
    expectOk(await mallory.self.patch(`${members}/${mallory.id}`, { nick: 'changed' }));
    for (const stream of streams) {
      const [event] = await stream.count(1);
      expect(event?.data).toMatchObject({ id: mallory.id });
      expect(stream.body).not.toContain(vera.email);
      stream.socket.destroy();
    }
  });

  it('rule.relation-target: look through relations at what it may get alone', async () => {
    const { token } = mallory;
    const filters = [
      'author.email ~ "@"',
      'person.email ~ "@"',
      'author.nick != null',
      'person.verified = false',
    ];
    const streams = await Promise.all(
      filters.map((filter) => openEvents(port, { path: at('posts'), token, filter })),
    );
    const socket = await openSocket(port, { Authorization: `Bearer ${token}` }, `${app.path}/realtime`);
    for (const [index, filter] of filters.entries()) {
      expect(await socket.subscribe(String(index), { collection: 'posts', filter })).toMatchObject({
        type: 'subscribed',
      });
    }
    const told = filters.length;
    for (const { id } of [vera, mallory]) {
      expectOk(await app.admin.post(posts, { title: `of ${id}`, author: id, person: id }));
    }
    for (const stream of streams) {
      const [event] = await stream.count(1);
      expect(event?.data).toMatchObject({ fields: { title: `of ${mallory.id}` } });
      stream.socket.destroy();
    }
    const events = (await socket.count(2 * told)).slice(told);
    expect(events.map(({ record }) => record)).toEqual(
      filters.map(() =>
        expect.objectContaining({ fields: expect.objectContaining({ title: `of ${mallory.id}` }) })
      ),
    );
    socket.socket.close();
  });

  it('filter.hidden-columns: know no hash of a password', async () => {
    const { token } = mallory;
    const socket = await openSocket(port, { Authorization: `Bearer ${token}` }, `${app.path}/realtime`);
    for (
      const [collection, filter] of [
        ['members', 'password_hash != null'],
        ['posts', 'author.password_hash ~ "argon2"'],
        ['posts', 'person.totp_sealed != null'],
      ] as const
    ) {
      const stream = await openEvents(port, { path: at(collection), token, filter });
      expect([stream.status, JSON.parse(stream.body).code]).toEqual([400, 'unknown_column']);
      stream.socket.destroy();
      const response = await socket.subscribe('x', { collection, filter });
      expect(response?.['type']).not.toBe('subscribed');
      expect(JSON.stringify(response)).toContain('unknown_column');
    }
    socket.socket.close();
  });
});

describe('a hook that does what a hostile user tells it', () => {
  it('can neither read nor write what no admin of the app can', async () => {
    // An author who passes on whatever comes.
    const source = `routerAdd('POST', '/open', async (e) => {
      const { verb, args } = await e.request.json();
      try { return { value: await $app.records[verb](...args) }; }
      catch (error) { return { error: { code: error.code } }; }
    });`;
    expect(expectOk(await app.admin.put(`${app.path}/hooks/open.ts`, { source })).reload.errors).toEqual([]);
    const before = await stateOf(vera);
    const tell = async (verb: string, ...args: unknown[]) =>
      expectOk(await mallory.self.post(`${app.path}/custom/open`, { verb, args }));
    const refusals: [string, string, unknown[]][] = [
      ...[
        'verified',
        'email',
        'password',
        'last_login',
        'oauth_providers',
        'password_hash',
        'totp_enabled',
        'role',
      ].map(
        (
          name,
        ): [string, string, unknown[]] => ['validation', 'update', ['members', vera.id, { [name]: 'x' }]],
      ),
      ['validation', 'create', ['members', { email: freshEmail(), verified: true }]],
      ['forbidden', 'create', ['users', { email: freshEmail(), password }]],
      ['forbidden', 'update', ['users', vera.id, { verified: true }]],
      ['forbidden', 'delete', ['users', vera.id]],
      ['unknown_column', 'list', ['members', { filter: 'password_hash != null' }]],
      ['unknown_column', 'list', ['users', { filter: 'password_hash ~ "argon2"' }]],
      ['unknown_column', 'list', ['users', { sort: 'totp_sealed' }]],
    ];
    for (const [code, verb, args] of refusals) {
      expect([verb, args, await tell(verb, ...args)]).toEqual([verb, args, { error: { code } }]);
    }
    const found = JSON.stringify([
      await tell('findOne', 'users', vera.id),
      await tell('findOne', 'members', vera.id),
    ]);
    expect(found).toContain(vera.email);
    expect(found).not.toMatch(/argon2|password_hash|totp_sealed/);
    expect(await stateOf(vera)).toEqual(before);
  });
});
