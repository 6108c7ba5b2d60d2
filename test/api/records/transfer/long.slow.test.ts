// An import that takes longer than the transactions of other requests may.
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { expectOk, serverUrl } from '../../../harness/api.ts';
import { scenario } from '../../../harness/scenario.ts';

it(
  'goes on for as long as its client sends, and stores everything at once',
  { timeout: 60_000 },
  async () => {
    const made = await scenario({ collections: { things: [{ name: 'n', kind: 'number' }] } });
    const things = made.records('things');
    const headers = {
      'Content-Type': 'application/x-ndjson',
      'Authorization': `Bearer ${made.admin.token}`,
    };
    const rows = Array.from({ length: 600 }, (_, n) => `{"n":${n}}\n`).join('');
    const status = await new Promise((resolve, reject) => {
      const url = new URL(`${serverUrl()}${things}/import`);
      const slow = request(url, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      slow.on('error', reject);
      let left = 20;
      const timer = setInterval(() => {
        slow.write(rows);
        if (--left > 0) return;
        clearInterval(timer);
        slow.end();
      }, 1_000);
    });
    expect(status).toBe(200);
    expect(expectOk(await made.admin.get(`${things}?per_page=1`)).total_items).toBe(12_000);
  },
);
