// Path parameters that name nothing, and that no database can be asked for: answered as the API description says.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Announces, readDescription } from '../contract/described.ts';
import { additions, type Endpoint, specified } from '../contract/endpoints.ts';
import { type OwnApp, type OwnWorkspace, send, serverUrl } from '../harness/api.ts';
import { expectError } from '../harness/expectations.ts';
import { scenario } from '../harness/scenario.ts';

const odd = {
  'a NUL character': '%00',
  'bytes that are no UTF-8': '%ff',
  'a slash': 'a%2Fb',
  'a long name': 'a'.repeat(1_000),
  'a character beyond the basic plane': '%F0%9F%92%A5',
  'a name that every object has': 'constructor',
} as const;
const parameter = /:([a-z]+)/g;
const endpoints = [...specified, ...additions].filter(({ path }) => path.includes(':'));

let own: OwnWorkspace;
let app: OwnApp;
let announces: Announces;

beforeAll(async () => {
  announces = await readDescription();
  ({ workspace: own, app } = await scenario({ collections: { orders: [{ name: 'title', kind: 'text' }] } }));
});

/** The path, for each of its parameters, with that one odd and the others real. */
function pathsOf({ path }: Endpoint, oddity: string): string[] {
  const real: Record<string, string> = {
    workspace: own.id,
    app: app.id,
    coll: 'orders',
    name: 'orders',
    id: randomUUID(),
  };
  return [...path.matchAll(parameter)].map(([, wanted]) =>
    path.replaceAll(parameter, (_, name: string) => name === wanted ? oddity : real[name] ?? 'x')
  );
}

/** What is odd about the response, or nothing. */
async function ask(endpoint: Endpoint, path: string): Promise<string[]> {
  const { method, body } = endpoint;
  const headers = { Authorization: `Bearer ${own.master.token}` };
  const response = await send(serverUrl() + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const { status, text } = response;
  const isAnnounced = announces(method, endpoint.path, { status, code: response.body.code });
  return isAnnounced && status >= 400 && status < 500 ? [] : [`${path}: ${status} ${text}`];
}

describe('odd parameters', () => {
  it.each(endpoints)('get a described response from $method $path', async (endpoint) => {
    const paths = Object.values(odd).flatMap((oddity) => pathsOf(endpoint, oddity));
    const found = await Promise.all(paths.map((path) => ask(endpoint, path)));
    expect(found.flat()).toEqual([]);
  });

  it('name no provider to sign in by', async () => {
    for (const oddity of Object.values(odd)) {
      const path = `${own.path}/auth/oauth/${oddity}`;
      const query = 'redirect_uri=https://app.example/';
      expectError(await own.admin.get(`${path}/authorize?${query}`), 404, 'not_found');
      expectError(await own.admin.post(`${path}/callback`, { code: 'a', state: 'b' }), 404, 'not_found');
    }
  });
});
