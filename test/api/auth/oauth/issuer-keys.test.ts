// How often an issuer is asked for its keys, by a clock of the test.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { IssuerKeys } from '../../../../api/auth/oauth/issuer-keys.ts';
import type { Egress } from '../../../../api/egress/client.ts';
import { testEgress } from '../../../harness/egress.ts';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

const minute = 60_000;
let server: Server;
let egress: Egress;
let issuer: string;
let pairs: KeyPair[];
/** What the issuer tells, by name; and how often, and whether it tells it at all. */
let told: Record<string, KeyPair>;
let asked = 0;
let isDown = false;
let keys: IssuerKeys;

beforeAll(async () => {
  egress = testEgress();
  pairs = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  server = createServer((_request, response) => void readBody().then((body) => response.end(body)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
beforeEach(() => {
  [told, asked, isDown, keys] = [{ one: pair(0) }, 0, false, new IssuerKeys()];
});

function pair(index: number): KeyPair {
  const found = pairs[index];
  if (found === undefined) throw new Error('no such pair');
  return found;
}

async function readBody(): Promise<string> {
  if (isDown) return 'come back tomorrow';
  asked++;
  const set = Object.entries(told).map(async ([kid, { publicKey }]) => ({
    ...await exportJWK(publicKey),
    kid,
    use: 'sig',
    alg: 'ES256',
  }));
  return JSON.stringify({ keys: await Promise.all(set) });
}

/** A token with this key's name. */
const tokenOf = (kid: string, { privateKey }: KeyPair): Promise<string> =>
  new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);

/** Whether such a token stands up at this time. */
const stands = async (kid: string, signer: KeyPair, now: number, workspace?: string): Promise<boolean> =>
  await standsUp(await tokenOf(kid, signer), now, workspace);

async function standsUp(token: string, now: number, workspace = 'w'): Promise<boolean> {
  const read = async () => {
    const { body } = await egress.send({ method: 'GET', url: new URL(issuer), maxBytes: 65_536 });
    return JSON.parse(body.toString('utf8'));
  };
  return await keys.verifyWith({ workspace, issuer, now, read }, (set) => jwtVerify(token, set))
    .then(() => true, () => false);
}

describe('keys of an issuer', () => {
  it('are asked for once in ten minutes, by however many at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => stands('one', pair(0), 0)));
    expect(new Set(all)).toEqual(new Set([true]));
    expect(await stands('one', pair(0), 10 * minute - 1)).toBe(true);
    expect(asked).toBe(1);
    expect(await stands('one', pair(0), 10 * minute)).toBe(true);
    expect(asked).toBe(2);
  });

  it('that are new are found at once, also under the name of an old one', async () => {
    expect(await stands('one', pair(0), 0)).toBe(true);
    told = { two: pair(1) };
    const token = await tokenOf('two', pair(1));
    expect(await Promise.all([standsUp(token, minute), standsUp(token, minute)])).toEqual([true, true]);
    expect(asked).toBe(2);
    told = { two: pair(0) };
    expect(await stands('two', pair(0), 2 * minute)).toBe(true);
    expect(await stands('two', pair(1), 3 * minute)).toBe(false);
  });

  it('are not asked for by made-up tokens more often than twice a minute', async () => {
    expect(await stands('made up', pair(1), 0)).toBe(false);
    expect(asked).toBe(1);
    const askedBy: number[] = [];
    for (let second = 1; second < 60; second++) {
      expect(await stands(`made up ${second}`, pair(1), second * 1_000)).toBe(false);
      askedBy[second] = asked;
    }
    expect([askedBy[1], askedBy[30], askedBy[31], askedBy[59]]).toEqual([2, 2, 3, 3]);
    expect(await stands('one', pair(0), minute)).toBe(true);
  });

  it('are those of 200 issuers at most', async () => {
    for (let index = 0; index <= 200; index++) await stands('one', pair(0), 0, `w${index}`);
    expect(asked).toBe(201);
    expect(await stands('one', pair(0), 1, 'w200')).toBe(true);
    expect(asked).toBe(201);
    expect(await stands('one', pair(0), 1, 'w0')).toBe(true);
    expect(asked).toBe(202);
  });

  it('are asked for again after a time when there was no response', async () => {
    isDown = true;
    expect(await stands('one', pair(0), 0)).toBe(false);
    isDown = false;
    expect(await stands('one', pair(0), 1)).toBe(true);
    expect(asked).toBe(1);
  });

  it('stay when an earlier question fails that took longer', async () => {
    const slow = Promise.withResolvers<never>();
    const query = { workspace: 'w', issuer };
    const failing = keys.verifyWith({ ...query, now: 0, read: () => slow.promise }, () => expect.fail());
    expect(await stands('one', pair(0), 10 * minute)).toBe(true);
    slow.reject(new Error('too late'));
    await expect(failing).rejects.toThrow('too late');
    expect(await stands('one', pair(0), 10 * minute + 1)).toBe(true);
    expect(asked).toBe(1);
  });

  it('are each workspace’s own, so that none hears what another one has asked', async () => {
    expect(await stands('one', pair(0), 0)).toBe(true);
    expect(await stands('one', pair(0), 0, 'another')).toBe(true);
    expect(asked).toBe(2);
  });
});
