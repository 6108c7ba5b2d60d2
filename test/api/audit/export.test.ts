// The audit log as JSON Lines.
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, serverUrl } from '../../harness/api.ts';
import { scenario } from '../../harness/scenario.ts';

let workspace: OwnWorkspace;
let app: OwnApp;
beforeAll(async () => {
  ({ workspace, app } = await scenario({ collections: { notes: [{ name: 'title', kind: 'text' }] } }));
  for (let round = 0; round < 5; round++) {
    expectOk(await workspace.admin.patch(app.path, { name: `Name ${round}` }));
  }
});

const lines = (text: string) =>
  text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));

it('audit.export: has every entry that the list has, in its order, one a line', async () => {
  for (const path of ['/api/system', workspace.path, app.path]) {
    for (const query of ['', '&action=UPDATE', '&actor=admin']) {
      const list = expectOk(await workspace.master.get(`${path}/audit?per_page=5${query}`));
      const response = await fetch(`${serverUrl()}${path}/audit?format=jsonl${query}`, {
        headers: { Authorization: `Bearer ${workspace.master.token}` },
      });
      const exported = lines(await response.text());
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
      expect(response.headers.get('cache-control')).toBe('no-store');
      // Others append to the log of the system meanwhile.
      if (path === '/api/system') {
        const found = new Set(exported.map(({ id }) => id));
        expect(list.items.every(({ id }: { id: string }) => found.has(id))).toBe(true);
        continue;
      }
      expect(exported.slice(0, 5)).toEqual(list.items);
      expect(exported).toHaveLength(list.total_items);
    }
  }
});

it('audit.export: is open to whom the list is, and takes no other format', async () => {
  expect((await app.admin.get(`${workspace.path}/audit?format=jsonl`)).status).toBe(403);
  expect((await as().get(`${workspace.path}/audit?format=jsonl`)).status).toBe(401);
  expect((await workspace.admin.get(`${workspace.path}/audit?format=csv`)).status).toBe(400);
});
