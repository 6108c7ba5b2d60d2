// Workspaces with a time to live.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, master } from '../harness/api.ts';

let root: Caller;
beforeAll(async () => {
  root = await master();
});

const list = '/api/workspaces';
const newId = () => `w${randomUUID().slice(0, 13)}`;
const year = 31_536_000;

async function entriesOf(id: string): Promise<Record<string, unknown>[]> {
  const { items } = expectOk(await root.get('/api/system/audit?action=workspace&per_page=200'));
  return items.filter(({ target }: { target: string }) => target === id);
}

describe('a workspace with `ttl_sec`', () => {
  it('shows when it is deleted, also in lists; others show nothing', async () => {
    const id = newId();
    const made = expectOk(await root.post(list, { id, name: 'Run', ttl_sec: 3_600 }));
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(3_600_000);
    expect(expectOk(await root.get(`${list}/${id}`))).toEqual(made);
    const plain = expectOk(await root.post(list, { name: 'Stays' }));
    expect(plain).not.toHaveProperty('expires_at');
  });

  it('is deleted when it is over, with everything of it, by the system', async () => {
    const id = newId();
    expectOk(await root.post(list, { id, name: 'Short', ttl_sec: 1 }));
    await expect.poll(async () => (await root.get(`${list}/${id}`)).status, { timeout: 60_000 }).toBe(404);
    expect(await entriesOf(id)).toMatchObject([
      {
        actor: 'system',
        action: 'workspace_delete',
        details: { name: 'Short', expires_at: expect.any(String) },
      },
      { actor: 'admin', action: 'workspace_create', details: { expires_at: expect.any(String) } },
    ]);
    // A later one of the id is another one, and stays.
    expect(expectOk(await root.post(list, { id, name: 'Again' }))).not.toHaveProperty('expires_at');
  }, 90_000);

  it('lives longer, or for ever, when a PATCH says so, which the audit log records', async () => {
    const id = newId();
    const made = expectOk(await root.post(list, { id, name: 'Run', ttl_sec: 3_600 }));
    const longer = expectOk(await root.patch(`${list}/${id}`, { ttl_sec: 7_200 }));
    expect(longer).toMatchObject({ id, name: 'Run' });
    expect(Date.parse(longer.expires_at) - Date.parse(longer.updated_at)).toBe(7_200_000);
    const kept = expectOk(await root.patch(`${list}/${id}`, { ttl_sec: null, name: 'Kept' }));
    expect(kept).not.toHaveProperty('expires_at');
    const [last, first] = await entriesOf(id);
    expect(first).toMatchObject({
      action: 'workspace_update',
      details: { expires_at: longer.expires_at, from: { expires_at: made.expires_at } },
    });
    expect(last).toMatchObject({
      details: { name: 'Kept', expires_at: null, from: { name: 'Run', expires_at: longer.expires_at } },
    });
  });

  it.each([
    [0, 'ttl_sec: must be at least 1'],
    [1.5, 'ttl_sec: must be a whole number'],
    [year + 1, `ttl_sec: must be at most ${year}`],
    ['60', expect.stringContaining('ttl_sec: must be ')],
  ])('refuses a time of %j', async (ttl_sec, message) => {
    const expected = { status: 400, body: { code: 'validation', message } };
    expect(await root.post(list, { name: 'x', ttl_sec })).toMatchObject(expected);
    const { id } = expectOk(await root.post(list, { name: 'x' }));
    expect(await root.patch(`${list}/${id}`, { ttl_sec })).toMatchObject(expected);
    expect(expectOk(await root.get(`${list}/${id}`))).not.toHaveProperty('expires_at');
  });
});
