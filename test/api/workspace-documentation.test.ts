// The examples of docs/reference/workspaces.md, sent one after another by the master admin.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { master, send, serverUrl } from '../harness/api.ts';
import { blocksOf } from '../harness/documentation-page.ts';

const page = readFileSync(new URL('../../docs/reference/workspaces.md', import.meta.url), 'utf8');
const examples = blocksOf(page).filter(({ kind }) => kind === 'request').flatMap(({ text }) =>
  [...text.matchAll(/^(GET|POST|PATCH|DELETE) (\S+)\n(.*?)^→ (\d+) ?([^\n]*)\n/gms)].map(
    ([, method = '', path = '', body = '', status, result = '']) => ({
      method,
      path: path === '/' ? '' : path,
      body: body === '' ? undefined : JSON.parse(body),
      status: Number(status),
      result,
    }),
  )
);

describe('docs/reference/workspaces.md', () => {
  it('leads to what it shows', async () => {
    const root = await master();
    expect(examples.length).toBe(page.match(/^→ /gm)?.length);
    for (const { method, path, body, status, result } of examples) {
      const headers = { Authorization: `Bearer ${root.token}` };
      const response = await send(`${serverUrl()}/api/workspaces${path}`, { method, body, headers });
      expect([method, path, response.status, response.text]).toEqual([
        method,
        path,
        status,
        expect.anything(),
      ]);
      if (status >= 400) expect(response.body.message).toBe(result);
      else if (result !== '') expect(response.body).toMatchObject(JSON.parse(result));
    }
  });
});
