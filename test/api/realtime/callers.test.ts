// Open streams follow their callers: a profile that changes, an address that is verified.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { titlesOf, tokenOf, type Watched, watched } from '../../harness/watched.ts';
import type { EventClient } from './event-client.ts';

let app: Scenario;
let ada: EndUser;
let bob: EndUser;
let profile: string;

beforeAll(async () => {
  app = await scenario();
  [ada, bob] = [await app.user(), await app.user()];
  const fields = [{ name: 'team', kind: 'text' }];
  expectOk(await app.admin.post(app.collections, { schema: { id: 'members', kind: 'auth', fields } }));
  profile = `${app.records('members')}/${await app.make(app.records('members'), {
    email: ada.email,
    team: 'red',
  })}`;
  await app.make(app.records('members'), { email: bob.email, team: 'red' });
});

/** Creates records until one is shown, and returns the time that this took, in milliseconds. */
async function untilShown(
  collection: Watched,
  input: Record<string, unknown>,
  client: EventClient,
): Promise<number> {
  const begin = performance.now();
  const before = client.events.length;
  while (client.events.length === before && performance.now() - begin < 6_000) {
    await collection.create(input);
  }
  return performance.now() - begin;
}

describe('sse.authz-live: an open stream', () => {
  it('shows what the profile of its caller lets it see, within 5 s of a change', async () => {
    const notes = await watched(app, { list: 'owner = @request.auth.profile.members.team' });
    const [hers, his] = [
      await notes.watch({ token: tokenOf(ada) }),
      await notes.watch({ token: tokenOf(bob) }),
    ];
    await notes.create({ title: 'for red', owner: 'red' });
    await hers.count(1);
    await his.count(1);
    expectOk(await app.admin.patch(profile, { team: 'blue' }));
    expect(await untilShown(notes, { title: 'for blue', owner: 'blue' }, hers)).toBeLessThan(5_000);
    await notes.create({ title: 'for red', owner: 'red' });
    await his.count(2);
    expect(new Set(titlesOf(his))).toEqual(new Set(['for red']));
    await notes.create({ title: 'last', owner: 'blue' });
    await hers.until((client) => titlesOf(client).includes('last'));
    expect(titlesOf(hers).slice(1)).not.toContain('for red');
    hers.socket.destroy();
    his.socket.destroy();
  });

  it('ends within 5 s when the rule does not admit its caller any more', async () => {
    const verify = (verified: boolean) =>
      app.workspace.admin.patch(`/api/workspaces/${app.workspace.id}/users/${bob.id}/verify`, { verified });
    expectOk(await verify(true));
    const notes = await watched(app, { list: '@request.auth.verified = true' });
    const his = await notes.watch({ token: tokenOf(bob) });
    await notes.create({ title: 'seen' });
    await his.count(1);
    expectOk(await verify(false));
    const begin = performance.now();
    await his.closed;
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(his.events.at(-1)).toMatchObject({ data: { code: 'forbidden' } });
  });
});
