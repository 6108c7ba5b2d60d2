// Who may open a WebSocket, and what happens to an open one when rights change.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fail } from '../../../api/errors.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { openEvents } from './event-client.ts';
import { type Rig, startRig } from './rig.ts';
import { handshake, openSocket, path } from './socket-client.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
  expect(rig.reports).toEqual([]);
});

describe('sse.authz-live: a WebSocket', () => {
  it('signs in by a message, and its subscriptions follow', async () => {
    rig.gate.rule = ({ principal }) =>
      rig.gate.view(
        principal?.id ?? '',
        ({ record }) => record.owner === undefined || record.owner === principal?.id,
      );
    const client = await openSocket(rig.port);
    await client.subscribe('a');
    rig.write({ owner: 'ada' });
    client.say({ type: 'auth', token: 'ada' });
    await client.settle();
    rig.write({ n: 1, owner: 'ada' });
    rig.write({ n: 2, owner: 'bob' });
    rig.write({ n: 3 });
    expect((await client.count(3)).slice(1).map(({ record }) => record)).toEqual([{ n: 1, owner: 'ada' }, {
      n: 3,
    }]);
  });

  it('signs in by header, or by cookie from a page of ours', async () => {
    rig.gate.ownersOnly();
    const host = `127.0.0.1:${rig.port}`;
    for (
      const headers of [
        { authorization: 'Bearer ada' },
        { cookie: 'x=1; svc_at=ada', origin: `http://${host}` },
        { cookie: 'svc_at=ada', origin: `https://${host}` },
        { cookie: 'svc_at=ada', origin: 'https://friend.example' },
      ]
    ) {
      const client = await openSocket(rig.port, headers);
      expect(await client.subscribe('a')).toMatchObject({ type: 'subscribed' });
    }
  });

  it.each([
    [{ cookie: 'svc_at=ada', origin: 'https://evil.example' }, 403, 'forbidden'],
    [{ cookie: 'svc_at=ada', origin: 'null' }, 403, 'forbidden'],
    [{ cookie: 'svc_at=ada' }, 403, 'forbidden'],
    [{ authorization: 'Bearer bad' }, 401, 'unauthorized'],
    [{ authorization: 'Basic x' }, 401, 'unauthorized'],
    [{ authorization: 'Bearer stranger' }, 403, 'forbidden'],
    [{ authorization: 'Bearer neighbour' }, 403, 'forbidden'],
    [{ 'x-forwarded-for': 'limited' }, 429, 'too_many_requests'],
    [{ 'sec-websocket-version': '12' }, 400, 'validation'],
    [{ 'sec-websocket-key': 'short' }, 400, 'validation'],
  ])('asked for with %j is answered %i %s', async (headers, status, code) => {
    const response = await handshake(rig.port, { headers });
    expect(response).toMatchObject({ status, headers: { 'x-standing': 'yes' } });
    expect(JSON.parse(response.body)).toMatchObject({ code, message: expect.any(String) });
  });

  it('may be opened without a token from any page, since then it can do what anyone can', async () => {
    expect((await handshake(rig.port, { headers: { origin: 'https://evil.example' } })).status).toBe(101);
  });

  it('of an app that does not exist is 404', async () => {
    const response = await handshake(rig.port, { at: '/api/workspaces/acme/apps/other/realtime' });
    expect(response.status).toBe(404);
    expect(response.body).toContain('app_not_found');
  });

  it('anywhere else, or anything else, is an ordinary request', async () => {
    rig.gate.rule = () => fail('parse_error', 'answered by the event stream');
    expect((await handshake(rig.port, { at: '/orders' })).body).toContain('parse_error');
    expect((await handshake(rig.port, { headers: { upgrade: 'h2c' } })).body).toContain('parse_error');
    const old =
      `GET ${path} HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    expect((await sendRaw(`http://127.0.0.1:${rig.port}`, old, '}')).body).toContain('parse_error');
  });

  it.each(
    [['expired', 'the access token has expired'], ['revoked', 'the access token has been revoked']] as const,
  )(
    'whose token is %s is closed with 4401',
    async (state, reason) => {
      const [ada, bob] = await Promise.all(
        ['ada', 'bob'].map((token) => openSocket(rig.port, { authorization: `Bearer ${token}` })),
      );
      await bob?.subscribe('a');
      rig.gate[state].add('ada');
      expect(await ada?.closed).toEqual({ code: 4401, reason });
      rig.write({ n: 1 });
      await bob?.count(2);
    },
  );

  it('that signs in with a bad token is closed with 4401, with one of another place with 1008', async () => {
    const bad = await openSocket(rig.port);
    expect(await bad.ask({ type: 'auth', token: 'bad' })).toMatchObject({
      type: 'error',
      code: 'unauthorized',
    });
    expect((await bad.closed).code).toBe(4401);
    for (const token of ['stranger', 'neighbour']) {
      const client = await openSocket(rig.port);
      expect(await client.ask({ type: 'auth', token })).toMatchObject({ type: 'error', code: 'forbidden' });
      expect((await client.closed).code).toBe(1008);
    }
  });

  it('goes on as who it was when nobody can say whether its new token is good', async () => {
    const client = await openSocket(rig.port, { authorization: 'Bearer ada' });
    expect(await client.ask({ type: 'auth', token: 'unknown' })).toMatchObject({ code: 'unavailable' });
    rig.gate.ownersOnly();
    await client.subscribe('a');
    rig.write({ n: 1, owner: 'ada' });
    expect((await client.count(3))[2]).toMatchObject({ record: { n: 1 } });
  });

  it('loses the subscriptions that a new rule or principal refuses, and keeps the others', async () => {
    const client = await openSocket(rig.port, { authorization: 'Bearer ada' });
    await client.subscribe('a');
    await client.subscribe('b', { collection: 'notes' });
    rig.gate.rule = ({ topic }) =>
      topic.collection === 'orders'
        ? fail('forbidden', 'the rule does not allow that')
        : rig.gate.view('', () => true);
    rig.gate.changed();
    expect((await client.count(3))[2]).toEqual({
      type: 'error',
      id: 'a',
      code: 'forbidden',
      message: 'the rule does not allow that',
    });
    rig.write({ n: 1 });
    rig.write({ n: 2 }, 'record_created', 'notes');
    expect((await client.count(4))[3]).toMatchObject({ id: 'b', record: { n: 2 } });
  });

  it('holds a seat like any stream, and takes it along when it signs in', async () => {
    const small = await startRig({ bounds: { streams: { perPrincipal: 1, perAddress: 3 } } });
    const ada = await openSocket(small.port, { authorization: 'Bearer ada' });
    const second = await openSocket(small.port);
    expect(await second.ask({ type: 'auth', token: 'ada' })).toMatchObject({ code: 'too_many_requests' });
    second.say({ type: 'auth', token: 'bob' });
    await second.settle();
    expect((await handshake(small.port, { headers: { authorization: 'Bearer bob' } })).status).toBe(429);
    const stream = await openEvents(small.port);
    expect(stream.status).toBe(200);
    const full = await handshake(small.port);
    expect(full).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
    ada.socket.close();
    await ada.closed;
    await second.settle();
    expect((await handshake(small.port, { headers: { authorization: 'Bearer ada' } })).status).toBe(101);
    await small.close();
  });

  it('takes a seat for each subscription, and gives it back', async () => {
    const small = await startRig({ bounds: { streams: { perPrincipal: 3, perAddress: 10 } } });
    const client = await openSocket(small.port, { authorization: 'Bearer ada' });
    await client.subscribe('a');
    await client.subscribe('b');
    expect(await client.subscribe('c')).toMatchObject({ id: 'c', code: 'too_many_requests' });
    client.say({ type: 'unsubscribe', id: 'a' });
    small.gate.rule = () => fail('forbidden', 'the rule does not allow that');
    expect(await client.subscribe('c')).toMatchObject({ id: 'c', code: 'forbidden' });
    small.gate.rule = () => small.gate.view('', () => true);
    expect(await client.subscribe('c')).toMatchObject({ type: 'subscribed' });
    client.socket.close();
    await client.closed;
    const streams = await Promise.all([1, 2, 3].map(() => openEvents(small.port, { token: 'ada' })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    await small.close();
  });

  it('takes one seat more for a subscription with a long filter', async () => {
    const small = await startRig({ bounds: { streams: { perPrincipal: 3, perAddress: 10 } } });
    const client = await openSocket(small.port, { authorization: 'Bearer ada' });
    const filter = 'f'.repeat(256);
    expect(await client.subscribe('a', { filter })).toMatchObject({ code: 'too_many_requests' });
    expect(await client.subscribe('a', { filter: filter.slice(1) })).toMatchObject({ type: 'subscribed' });
    await small.close();
  });

  it('stays who it was when there is no seat for whom it signs in as', async () => {
    const small = await startRig({ bounds: { streams: { perPrincipal: 1, perAddress: 9 } } });
    small.gate.ownersOnly();
    await openSocket(small.port, { authorization: 'Bearer ada' });
    const second = await openSocket(small.port);
    expect(await second.ask({ type: 'auth', token: 'ada' })).toMatchObject({ code: 'too_many_requests' });
    expect(await second.subscribe('a')).toMatchObject({ type: 'error', code: 'unauthorized' });
    await small.close();
  });

  it('takes the seats of its subscriptions along when it signs in', async () => {
    const small = await startRig({ bounds: { streams: { perPrincipal: 2, perAddress: 10 } } });
    const client = await openSocket(small.port);
    await client.subscribe('a');
    await client.subscribe('b');
    expect(await client.ask({ type: 'auth', token: 'ada' })).toMatchObject({ code: 'too_many_requests' });
    client.say({ type: 'unsubscribe', id: 'a' });
    client.say({ type: 'auth', token: 'ada' });
    await client.settle();
    expect(await client.subscribe('c')).toMatchObject({ id: 'c', code: 'too_many_requests' });
    expect((await handshake(small.port, { headers: { authorization: 'Bearer ada' } })).status).toBe(429);
    client.socket.close();
    await client.closed;
    const streams = await Promise.all([1, 2].map(() => openEvents(small.port, { token: 'ada' })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await small.close();
  });
});
