// The rules of the example "tracker" in streams: members see changes at once, others nothing, and removed members nothing more.
import { describe, expect, it } from 'vitest';
import { expectOk, serverUrl } from '../../harness/api.ts';
import type { EndUser } from '../../harness/scenario.ts';
import { tracker, trackerCollections } from '../../harness/tracker.ts';
import { openEvents } from '../../api/realtime/event-client.ts';
import { openSocket } from '../../api/realtime/socket-client.ts';

const app = await tracker();
const { records, app: { path } } = app;
const port = Number(new URL(serverUrl()).port);
const [ada, bob, eve] = [await app.person('Ada'), await app.person('Bob'), await app.person('Eve')];
const apollo = await app.project(ada, 'Apollo');
const bobs = await app.join(ada, apollo, bob, 'member');
const elsewhere = await app.project(eve, 'Elsewhere');

const sse = (user: EndUser, collection: string, filter?: string, since?: string) =>
  openEvents(port, {
    path: `${path}/collections/${collection}/events`,
    ...(user.token === undefined ? {} : { token: user.token }),
    ...(filter === undefined ? {} : { filter }),
    ...(since === undefined ? {} : { since }),
  });

/** A WebSocket that is subscribed to all collections. */
async function socket(user: EndUser) {
  const client = await openSocket(port, { Authorization: `Bearer ${user.token}` }, `${path}/realtime`);
  for (const collection of trackerCollections) {
    expect(await client.subscribe(collection, { collection })).toMatchObject({ type: 'subscribed' });
  }
  return client;
}

/** Ada does a thing of each kind in her project; returns the texts that nobody else may see. */
async function work(): Promise<string[]> {
  const issue = await app.issue(ada, apollo, 'launch codes', { labels: ['bug'] });
  expectOk(await ada.patch(`${records('issues')}/${issue.id}`, { status: 'done', 'labels+': ['urgent'] }));
  const text = { issue: issue.id, author: ada.id, text: 'quokka' };
  const comment = expectOk(await ada.post(records('comments'), text));
  expectOk(await ada.delete(`${records('comments')}/${comment.id}`));
  const invitation = { project: apollo, email: 'zoe@example.com', role: 'guest' };
  const { id } = expectOk(await ada.post(records('invitations'), invitation));
  expectOk(await ada.delete(`${records('invitations')}/${id}`));
  expectOk(await ada.patch(`${records('projects')}/${apollo}`, { description: issue.id }));
  return [issue.id, comment.id, id, apollo, 'quokka', 'launch'];
}

describe('streams', () => {
  it('show members each change, and others none, by either protocol', async () => {
    const streams = await Promise.all(trackerCollections.map((name) => sse(eve, name)));
    const probing = await sse(
      eve,
      'issues',
      "project.name = 'Apollo' || @collection.comments.text = 'quokka'",
    );
    const [eves, bobSocket] = [await socket(eve), await socket(bob)];
    const issues = await sse(bob, 'issues', `project = '${apollo}'`);
    const secrets = await work();
    await issues.count(2);
    expect(issues.events.map(({ event }) => event)).toEqual(['record_created', 'record_updated']);
    const seen = ['issues', 'issues', 'comments', 'comments', 'projects'];
    await bobSocket.count(trackerCollections.length + seen.length);
    const events = bobSocket.told.filter(({ type }) => type === 'event');
    expect(events.map(({ id }) => id).sort()).toEqual(seen.sort());

    // Whatever would come for Eve has come before what is hers.
    await app.issue(eve, elsewhere, 'own');
    await eves.count(trackerCollections.length + 1);
    await streams[trackerCollections.indexOf('issues')]?.count(1);
    for (const text of [...eves.texts, ...streams.map(({ text }) => text), probing.text]) {
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    }
    expect(eves.told.at(-1)).toMatchObject({ type: 'event', record: { fields: { title: 'own' } } });
    for (const { socket } of [...streams, probing, issues]) socket.destroy();
    for (const { socket } of [eves, bobSocket]) socket.close();
  });

  it('show nothing of before to somebody who comes with the place of a member', async () => {
    const bobStream = await sse(bob, 'issues');
    await app.issue(ada, apollo, 'launch one');
    await bobStream.count(1);
    await app.issue(ada, apollo, 'launch two');
    const eves = await sse(eve, 'issues', undefined, bobStream.lastEventId);
    await app.issue(eve, elsewhere, 'own again');
    await eves.until(({ events }) => events.some(({ event }) => event === 'record_created'));
    expect(eves.text).not.toContain('launch');
    for (const { socket } of [bobStream, eves]) socket.destroy();
  });

  it('show a member who is removed nothing more', async () => {
    const [stream, client] = [await sse(bob, 'issues'), await socket(bob)];
    await app.issue(ada, apollo, 'seen');
    await stream.count(1);
    expectOk(await ada.delete(`${records('memberships')}/${bobs}`));
    const before = [stream.events.length, client.told.length];
    await app.issue(ada, apollo, 'unseen');
    const { lastEventId } = stream;
    await work();
    const own = await app.project(bob, 'Own');
    await app.issue(bob, own, 'mine');
    await stream.until(({ events }) => events.length > (before[0] ?? 0));
    expect(stream.text).not.toMatch(/unseen|launch/);
    await client.settle();
    expect(client.texts.join('')).not.toMatch(/unseen|launch|quokka/);
    const again = await sse(bob, 'issues', undefined, lastEventId);
    await again.count(1);
    expect(again.text).not.toMatch(/unseen|launch/);
    for (const { socket } of [stream, again]) socket.destroy();
    client.socket.close();
  });
});
