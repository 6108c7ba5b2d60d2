// A change locks all policies, so it must not wait for a tenant whose connections are all taken.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setPolicy } from '../../../api/policies/set.ts';
import { resolveConfig } from '../../../supervisor/config.ts';
import { type BareApp, bareApp } from '../../harness/bare-app.ts';

const { config } = resolveConfig({ file: undefined, env: {}, flags: [], cwd: '/', terminal: false });
let own: BareApp;

beforeAll(async () => {
  own = await bareApp();
});
afterAll(() => own.end());

const field = 'shop.size';
const range = (max: number) => ({ kind: 'range', min: 0, max }) as const;

function set(target: Parameters<typeof setPolicy>[1], max: number) {
  return setPolicy({ ...own.deps, config }, target, range(max), { field, caller: own.by });
}

it('changes the policy of a tenant once a connection is free, and blocks no other tenant', async () => {
  const app = await own.definition();
  const { databases } = own.deps;
  const { promise, resolve } = Promise.withResolvers<void>();
  const pool = databases.app(app.workspace.database, app.schema);
  const taken = Array.from({ length: 16 }, () => pool.transaction(() => promise));
  const waiting = set({ app }, 100);
  for (let max = 201; max <= 203; max++) {
    await expect(set({ workspace: app.workspace }, max)).resolves.toMatchObject({ spec: range(max) });
  }
  resolve();
  await Promise.all(taken);
  await expect(waiting).resolves.toMatchObject({ spec: range(100), effective: range(100) });
});
