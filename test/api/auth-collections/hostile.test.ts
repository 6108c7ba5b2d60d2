// A user of a tenant tries to read the profile of another through batches, relations and expansions.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk, type OwnApp, type OwnWorkspace } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type Member, type Neighbours, neighbours } from '../../harness/neighbours.ts';

let workspace: OwnWorkspace;
let app: OwnApp;
let members: string;
let posts: string;
let vera: Member;
let mallory: Member;
let hers: string;
let stateOf: Neighbours['stateOf'];
let titles: Neighbours['titles'];

beforeAll(async () => {
  ({ workspace, app, members, posts, vera, mallory, hers, stateOf, titles } = await neighbours());
});

const filtered = (filter: string) => `filter=${encodeURIComponent(filter)}`;

describe('a batch of a hostile user', () => {
  const change = (id: string, body: unknown) => ({ method: 'PATCH', collection: 'members', id, body });
  const send = (...requests: unknown[]): Promise<ApiResponse> =>
    mallory.self.post(`${app.path}/batch`, { requests });
  const innocent = { method: 'POST', collection: 'posts', body: { title: 'of a batch' } };

  it.each<[string, unknown]>([
    ['verified', true],
    ['email', 'other@example.com'],
    ['password', 'another password'],
    ['last_login', null],
    ['oauth_providers', []],
    ['password_hash', 'x'],
    ['role', 'app_admin'],
    ['totp_enabled', false],
    ['id', '00000000-0000-7000-8000-000000000000'],
  ])('mass.assignment: cannot set its own %s, and nothing else of it is done', async (name, value) => {
    const before = await stateOf(mallory);
    expectError(await send(innocent, change(mallory.id, { nick: 'new', [name]: value })), 400, 'validation');
    expect(await stateOf(mallory)).toEqual(before);
    expect(await titles(filtered('title = "of a batch"'))).toEqual([]);
  });

  it('neither changes nor removes the profile of another', async () => {
    const before = await stateOf(vera);
    for (
      const request of [
        change(vera.id, { nick: 'mine' }),
        { method: 'DELETE', collection: 'members', id: vera.id },
      ]
    ) {
      expectError(await send(innocent, request), 403, 'forbidden');
    }
    expectError(await send(innocent, change(randomUUID(), { nick: 'mine' })), 404, 'not_found');
    expect(await stateOf(vera)).toEqual(before);
    expect(await titles(filtered('title = "of a batch"'))).toEqual([]);
  });

  it('rule.relation-target: points to no profile of another, by whatever write', async () => {
    const own = expectOk(await mallory.self.post(posts, { title: 'one more' })).id;
    for (const author of [vera.id, randomUUID()]) {
      const body = { title: 'of a batch', author };
      const refused = [
        await mallory.self.post(posts, body),
        await mallory.self.patch(`${posts}/${own}`, body),
        await send({ method: 'POST', collection: 'posts', body }),
        await send({ method: 'PATCH', collection: 'posts', id: own, body }),
      ];
      for (const response of refused) {
        expectError(response, 400, 'validation');
        expect(response.body.message).toMatch(/^(requests\.0: )?author: there is no record with this id$/);
      }
    }
  });
});

describe('what a hostile user asks through relations', () => {
  it.each([
    ['author.email ~ "@example.com"'],
    ['person.email ~ "@example.com"'],
    ['author.nick = "secret"'],
    ['author.verified = false'],
    ['person.verified = false'],
    ['author.id != null'],
    ['author.created_at < @now'],
  ])('rule.relation-target: %s holds of its own alone, in items and totals', async (filter) => {
    expect(await titles(filtered(`(${filter}) && (title = "hers" || title = "his")`))).toEqual(['his']);
    const counted = expectOk(await mallory.self.get(`${posts}?${filtered(`title = "hers" && ${filter}`)}`));
    expect([counted.total_items, counted.total_pages]).toEqual([0, 0]);
  });

  it.each([
    ['filter', 'author.password_hash != null'],
    ['filter', 'person.password_hash ~ "argon2"'],
    ['filter', 'person.totp_sealed != null'],
    ['sort', 'person.password_hash'],
    ['sort', 'password_hash'],
    ['fields', 'author.email'],
    ['expand', 'person.email'],
  ])('filter.hidden-columns: %s=%s names nothing that there is', async (name, value) => {
    const refused = await mallory.self.get(`${posts}?${name}=${encodeURIComponent(value)}`);
    expectError(refused, 400, 'unknown_column');
  });

  it('expands its own alone', async () => {
    for (const target of ['author', 'person', 'author,person']) {
      const response = await mallory.self.get(`${posts}/${hers}?expand=${target}`);
      expectOk(response);
      expect(response.text).not.toContain(vera.email);
      expect(response.text).not.toContain('secret');
      const all = await mallory.self.get(`${posts}?expand=${target}&per_page=200`);
      expectOk(all);
      expect(all.text).not.toContain(vera.email);
      expect(all.text).toContain(mallory.email);
    }
  });

  it('reads neither the users nor the profiles of others', async () => {
    expectError(await mallory.self.get(`${members}/${vera.id}`), 403, 'forbidden');
    for (const query of [filtered(`email = "${vera.email}" || email != null`), 'sort=-email&per_page=200']) {
      const { items } = expectOk(await mallory.self.get(`${members}?${query}`));
      expect(items.map(({ id }: { id: string }) => id)).toEqual([mallory.id]);
    }
    for (const rest of [`/${vera.id}`, `?${filtered(`email = "${vera.email}"`)}`, '?sort=-email']) {
      const refused = await mallory.self.get(`${app.path}/collections/users/records${rest}`);
      expectError(refused, 403, 'forbidden');
    }
    expectError(await mallory.self.get(`${workspace.path}/users/${vera.id}`), 403, 'forbidden');
    expectError(await mallory.self.get(`${workspace.path}/users?q=a`), 403, 'forbidden');
  });
});
