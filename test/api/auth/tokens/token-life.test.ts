// How long tokens are good, by a clock of the test that may be set back.
import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Grant } from '../../../../api/auth/tokens/claims.ts';
import { Revocations } from '../../../../api/auth/tokens/revocations.ts';
import { issueTokens, prepareSession, type SessionDraft } from '../../../../api/auth/sessions/sessions.ts';
import { openSigningKeys, type SigningKeys } from '../../../../api/auth/tokens/signing-keys.ts';
import { Tokens } from '../../../../api/auth/tokens/tokens.ts';
import type { Storage } from '../../../../storage/boot/boot.ts';
import { uuidV7Source } from '../../../../storage/sql/ids.ts';
import { Secrets } from '../../../../storage/secrets.ts';
import { type OwnInstallation, ownInstallation } from '../../../harness/database.ts';
import { claimsOf } from '../../../harness/tokens.ts';

const hour = 3_600_000;
const start = Date.parse('2026-11-22T08:00:00Z');
const legacySecret = 'the secret of a 0.1 release, 32 bytes or more';
const grant: Grant = { role: 'user', id: 'ann', workspace: 'acme' };
const secrets = new Secrets(randomBytes(32));
let clock = start;
const now = () => new Date(clock);
let installation: OwnInstallation;
let storage: Storage;
let keys: SigningKeys;
let revocations: Revocations;
let tokens: Tokens;

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
  keys = await openSigningKeys({ databases: storage.databases, secrets, now });
});
afterAll(() => installation.remove());
beforeEach(() => {
  clock = start;
  begin();
  return () => revocations.close();
});

/** What a process begins with. */
function begin(): void {
  const { databases } = storage;
  const newId = uuidV7Source(() => clock);
  revocations = new Revocations({
    databases,
    now,
    newId,
    observe: () => undefined,
    maxTokenLifeMs: 24 * hour,
  });
  tokens = new Tokens({ issuer: 'bulkhead', legacySecret, keys, revocations, now: () => clock });
}

function session(): SessionDraft {
  const origin = { ip: '127.0.0.1', userAgent: '', requestId: 'x' };
  const id = revocations.newId();
  const terms = { accessTtl: 900, refreshTtl: 86_400 };
  return prepareSession({ secrets, now }, { id, kind: 'user', grant, app: undefined, origin }, terms);
}

async function issue(): Promise<string> {
  return (await issueTokens({ tokens }, session())).access_token;
}

async function expectRefused(token: string): Promise<void> {
  expect(tokens.verifyCached(token)).toBeUndefined();
  await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
}

describe('an access token', () => {
  it('is good until its last second, remembered or not', async () => {
    const token = await issue();
    clock += 899_999;
    expect(tokens.verifyCached(token)).toMatchObject({ id: 'ann' });
    expect(await tokens.verify(token)).toMatchObject({ id: 'ann' });
    clock += 1;
    await expectRefused(token);
  });

  it('that was issued by a clock that was ahead is refused once that is set back', async () => {
    clock += 2 * hour;
    const token = await issue();
    expect(tokens.verifyCached(token)).toMatchObject({ id: 'ann' });
    clock = start;
    await expectRefused(token);
  });

  it('lives no longer because the clock was ahead before', async () => {
    clock += 2 * hour;
    session();
    clock = start;
    const { row } = session();
    expect(row).toMatchObject({ created_at: now(), expires_at: new Date(start + 86_400_000) });
    const token = await issue();
    expect(claimsOf(token)).toMatchObject({ iat: start / 1_000, exp: start / 1_000 + 900 });
    expect(tokens.verifyCached(token)).toMatchObject({ id: 'ann' });
  });

  it('is good that was issued after a revocation by a clock that was ahead, and ends with the next', async () => {
    clock += 2 * hour;
    const old = await issue();
    const row = revocations.row('subject', 'ann');
    clock = start;
    begin();
    revocations.apply([row]);
    const token = await issue();
    expect(tokens.verifyCached(token)).toMatchObject({ id: 'ann' });
    revocations.apply([revocations.row('subject', 'ann')]);
    await expectRefused(token);
    clock += 2 * hour;
    await expectRefused(old);
  });
});

describe('jwt.legacy-hs256: a token of an earlier release', () => {
  it('is good for a day after the first start of this one, however long it says', async () => {
    const claims = { role: 'master_admin', sub: 'ann', iat: start / 1_000, exp: start / 1_000 + 1_000_000 };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(
      Buffer.from(legacySecret),
    );
    clock += 24 * hour;
    expect(await tokens.verify(token)).toMatchObject({ id: 'ann' });
    clock += 1;
    begin();
    await expectRefused(token);
  });
});
