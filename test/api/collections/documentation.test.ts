// The examples of docs/reference/changes.md and docs/reference/views.md, sent one after another.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ownWorkspace, send, serverUrl } from '../../harness/api.ts';
import { blocksOf } from '../../harness/documentation-page.ts';

function read(name: string): string {
  return readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), 'utf8');
}

function examplesOf(page: string) {
  return blocksOf(page).filter(({ kind }) => kind === 'request').flatMap(({ text }) =>
    [...text.matchAll(/^(GET|POST|PUT|PATCH|DELETE) (\S+)\n(.*?)^→ (\d+) ?([^\n]*)\n/gms)]
      .map(([, method = '', path = '', body = '', status, result = '']) => ({
        method,
        path,
        body: body === '' ? undefined : JSON.parse(body),
        status: Number(status),
        result,
      }))
  );
}

let headers: Record<string, string>;
let path: string;

const url = (rest: string) => `${serverUrl()}${path}/${rest}`;

describe.each(['changes.md', 'views.md'])('%s', (name) => {
  beforeAll(async () => {
    const app = await (await ownWorkspace()).app();
    path = app.path;
    headers = { Authorization: `Bearer ${app.admin.token}` };
  });

  const page = read(name);
  const examples = examplesOf(page);

  it('has examples', () => {
    expect(examples.length).toBe(page.match(/^→ /gm)?.length);
  });

  it.each(examples)(
    '$method $path is $status $result',
    async ({ method, path: rest, body, status, result }) => {
      const response = await send(url(rest), { method, body, headers });
      expect([response.status, response.text.slice(0, 200)]).toEqual([status, expect.anything()]);
      if (status >= 400) expect(response.body.message).toBe(result);
      else if (result !== '') expect(response.body).toMatchObject(JSON.parse(result));
    },
  );
});
