// Guessing passwords of one subject.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';

let workspace: OwnWorkspace;
beforeAll(async () => {
  workspace = await ownWorkspace();
});

async function attempt(email: string, password: string): Promise<ApiResponse> {
  return await as().post(`${workspace.path}/auth/admin/login`, { email, password });
}

async function statuses(count: number, one: () => Promise<ApiResponse>): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index++) seen.push((await one()).status);
  return seen;
}

/** The responses to six wrong tries. */
const untilLocked = [...Array<number>(5).fill(401), 429];

describe('auth.lockout', () => {
  it('answers five failures with 401 and everything after them with 429, the right password included', async () => {
    const { email, password } = await workspace.login();
    expect(await statuses(6, () => attempt(email, 'a wrong password'))).toEqual(untilLocked);
    const response = await attempt(email, password);
    expect([response.status, response.body.code]).toEqual([429, 'too_many_requests']);
    const seconds = Number(response.headers.get('Retry-After'));
    expect(seconds).toBeGreaterThan(270);
    expect(seconds).toBeLessThanOrEqual(300);
  });

  it('counts the ways to write one email together', async () => {
    const { email, password } = await workspace.login();
    for (const name of [email, email.toUpperCase(), ` ${email}`, `${email}  `, `\t${email.toUpperCase()}`]) {
      expect((await attempt(name, 'a wrong password')).status).toBe(401);
    }
    expect((await attempt(email, password)).status).toBe(429);
  });

  it('treats a name that nobody has alike', async () => {
    const email = `${randomUUID()}@example.com`;
    expect(await statuses(6, () => attempt(email, 'a wrong password'))).toEqual(untilLocked);
  });

  it('forgets the failures when a login succeeds', async () => {
    const { email, password } = await workspace.login();
    for (let round = 0; round < 2; round++) {
      expect(await statuses(4, () => attempt(email, 'a wrong password'))).toEqual([401, 401, 401, 401]);
      expect((await attempt(email, password)).status).toBe(200);
    }
  });

  it('counts five of 20 guesses at once, as if they had come one after another', async () => {
    const { email } = await workspace.login();
    const responses = await Promise.all(Array.from({ length: 20 }, () => attempt(email, 'a wrong password')));
    const seen = responses.map(({ status }) => status);
    expect(seen.filter((status) => status === 401)).toHaveLength(5);
    expect(seen.filter((status) => status === 429)).toHaveLength(15);
    expect(responses.filter(({ status, headers }) => status === 429 && headers.get('Retry-After') === null))
      .toEqual([]);
  });

  it('lets many right logins at once in', async () => {
    const { email, password } = await workspace.login();
    const responses = await Promise.all(Array.from({ length: 12 }, () => attempt(email, password)));
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
  });

  it('concerns one workspace only', async () => {
    const other = await ownWorkspace();
    const { email } = await workspace.login();
    await statuses(6, () => attempt(email, 'a wrong password'));
    const elsewhere = await as().post(`${other.path}/auth/admin/login`, {
      email,
      password: 'a wrong password',
    });
    expect(elsewhere.status).toBe(401);
  });

  it('is audited: what failed, what was refused, and until when', async () => {
    const { email, password } = await workspace.login();
    await statuses(6, () => attempt(email, 'a wrong password'));
    await attempt(email, password);
    const { items } = expectOk(
      await workspace.admin.get(`${workspace.path}/audit?action=login_&actor=${email}`),
    );
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'login_locked',
      'login_locked',
      ...Array(5).fill('login_failed'),
      'login_success',
    ]);
    expect(items[2].details).toEqual({
      as: 'admin',
      locked_until: items[0].details.until,
      request_id: expect.any(String),
      ip: '127.0.0.1',
      user_agent: 'node',
    });
  });

  it('does not count bodies that are refused', async () => {
    const { email, password } = await workspace.login();
    await statuses(6, () => as().post(`${workspace.path}/auth/admin/login`, { email, password: 5 }));
    expect((await attempt(email, password)).status).toBe(200);
  });
});
