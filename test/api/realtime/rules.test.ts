// Visibility of live changes by real rules, tokens and collections, while these change.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { openForge } from '../../harness/forge.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { titlesOf, tokenOf, watched } from '../../harness/watched.ts';

let app: Scenario;
let ada: EndUser;
let bob: EndUser;

beforeAll(async () => {
  app = await scenario();
  [ada, bob] = [await app.user(), await app.user()];
});

describe('sse.authz-live: a real event stream', () => {
  it('shows an end-user its own part, deletions included', async () => {
    const orders = await watched(app, { list: 'owner = @request.auth.id' });
    const [hers, his] = [
      await orders.watch({ token: tokenOf(ada) }),
      await orders.watch({ token: tokenOf(bob) }),
    ];
    const adas = await orders.create({ title: 'hers', owner: ada.id });
    const bobs = await orders.create({ title: 'his', owner: bob.id });
    await orders.remove(adas.id);
    await orders.remove(bobs.id);
    await hers.count(2);
    await his.count(2);
    expect(titlesOf(hers)).toEqual(['hers', 'hers']);
    expect(titlesOf(his)).toEqual(['his', 'his']);
    hers.socket.destroy();
    his.socket.destroy();
  });

  it.each(['auth', 'owner = @request.auth.id'])('is not for anonymous callers under %s', async (rule) => {
    const orders = await watched(app, { list: rule });
    const response = await as().get(orders.events);
    expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
  });

  it('is for admins only by default', async () => {
    const orders = await watched(app, {});
    expect((await as().get(orders.events)).status).toBe(401);
    expect((await ada.get(orders.events)).status).toBe(403);
    const client = await orders.watch({ token: tokenOf(app.admin) });
    await orders.create({ title: 'x' });
    expect(await client.count(1)).toHaveLength(1);
    client.socket.destroy();
  });

  it('ends within 5 s of the revocation of its token', async () => {
    const orders = await watched(app);
    const login = await app.workspace.login();
    const client = await orders.watch({ token: tokenOf(login) });
    expectOk(await login.post('/_/auth/logout'));
    const revoked = performance.now();
    await client.closed;
    expect(performance.now() - revoked).toBeLessThan(5_000);
    expect(client.events.at(-1)).toMatchObject({
      event: 'unauthorized',
      data: { code: 'unauthorized', message: 'the access token has been revoked' },
    });
  });

  it('ends when its token expires', async () => {
    const orders = await watched(app);
    const forge = await openForge();
    const exp = Math.floor(Date.now() / 1_000) + 2;
    const token = forge.genuine({ role: 'user', workspace: app.workspace.id, sub: ada.id, exp });
    const client = await orders.watch({ token });
    await client.closed;
    expect(Date.now()).toBeLessThan((exp + 5) * 1_000);
    expect(client.events.at(-1)).toMatchObject({ data: { message: 'the access token has expired' } });
  });

  it('keeps the token that an app admin has, and ends with its right to the app', async () => {
    const orders = await watched(app, {});
    const appId = app.collections.split('/')[5] ?? '';
    const other = await app.workspace.app();
    const login = await app.workspace.login([appId]);
    const client = await orders.watch({ token: tokenOf(login) });
    await orders.create({ title: 'seen' });
    await client.count(1);
    expectOk(
      await app.workspace.master.patch(`${app.workspace.path}/admins/${login.id}`, { app_ids: [other.id] }),
    );
    await client.closed;
    expect(client.events.at(-1)).toMatchObject({ event: 'unauthorized' });
  });

  it('ends when its user is deleted', async () => {
    const orders = await watched(app);
    const cleo = await app.user();
    const client = await orders.watch({ token: tokenOf(cleo) });
    expectOk(await app.workspace.admin.delete(`${app.workspace.path}/users/${cleo.id}`));
    await client.closed;
    expect(client.events.at(-1)).toMatchObject({ event: 'unauthorized' });
  });

  it('follows a rule that narrows, and ends with one that excludes', async () => {
    const orders = await watched(app, { list: 'any' });
    const client = await orders.watch({ token: tokenOf(ada) });
    await app.setRules(orders.name, { list: 'owner = @request.auth.id' });
    await orders.create({ title: 'hidden' });
    await orders.create({ title: 'hers', owner: ada.id });
    await client.count(1);
    expect(titlesOf(client)).toEqual(['hers']);
    await app.setRules(orders.name, { list: 'admin' });
    await client.closed;
    expect(client.events.at(-1)).toMatchObject({ event: 'unauthorized', data: { code: 'forbidden' } });
  });

  it('ends with its collection', async () => {
    const orders = await watched(app);
    const client = await orders.watch();
    expectOk(await app.admin.delete(`${app.collections}/${orders.name}`));
    await client.closed;
    expect((await as().get(orders.events)).status).toBe(404);
  });

  it('follows the address of an admin that is changed', async () => {
    const orders = await watched(app);
    const login = await app.workspace.login();
    const client = await orders.watch({ token: tokenOf(login), filter: 'title = @request.auth.email' });
    const email = `new.${login.email}`;
    expectOk(await app.workspace.master.patch(`${app.workspace.path}/admins/${login.id}`, { email }));
    await orders.create({ title: login.email });
    await orders.create({ title: email });
    await client.count(1);
    expect(titlesOf(client)).toEqual([email]);
    client.socket.destroy();
  });

  it('ends where one event would take too long to judge, and only there', async () => {
    const orders = await watched(app);
    const search = (times: number) => Array(times).fill('title ~ "tea"').join(' && ');
    const [patient, impatient] = [
      await orders.watch({ filter: search(2) }),
      await orders.watch({ filter: search(3) }),
    ];
    expect([patient.status, impatient.status]).toEqual([200, 200]);
    await orders.create({ title: `${'x'.repeat(7_000_000)}tea` });
    await impatient.closed;
    // Told where to go on, behind the event: it would be judged again for ever.
    expect(impatient.events).toEqual([{ event: 'reset', id: expect.any(String), data: {} }]);
    expect(await patient.count(1)).toMatchObject([{ event: 'record_created' }]);
    patient.socket.destroy();
  });
});
