// More tenants at once than PostgreSQL has connections.
import { describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk } from '../harness/api.ts';
import { startServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';

/** About twice as many as tenants of the embedded PostgreSQL can have connections. */
const workspaces = Array.from({ length: 200 }, (_, index) => `w${index}`);
const atOnce = 4;

/** A workspace with an app; a few are made side by side. */
async function fill({ master }: Storefront): Promise<void> {
  const left = [...workspaces];
  const make = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      expectOk(await master.post('/api/workspaces', { id, name: id }));
      expectOk(await master.post(`/api/workspaces/${id}/apps`, { id: 'shop', name: 'Shop' }));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, make));
}

function isRefusedPolitely({ status, headers }: ApiResponse): boolean {
  return status === 503 && Number(headers.get('retry-after')) >= 1;
}

describe('tenant.pool-limit', () => {
  it(
    'tenant.pool-limit: 200 workspaces at once are served or told when to come back, and all later',
    async () => {
      const server = await startServer({ config: unlimited });
      const store = await openStorefront(server.url);
      await fill(store);
      const ask = (id: string) => store.master.get(`/api/workspaces/${id}/apps`);
      const responses = await Promise.all([...workspaces, ...workspaces, ...workspaces].map(ask));
      const served = responses.filter(({ status }) => status === 200);
      expect(served.length).toBeGreaterThan(0);
      expect(responses.filter((response) => response.status !== 200 && !isRefusedPolitely(response))).toEqual(
        [],
      );
      console.log(`${served.length} of ${responses.length} served at once`);
      for (const id of workspaces) expectOk(await ask(id));
      await server.stop();
    },
    240_000,
  );
});
