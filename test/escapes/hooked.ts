// Attempts as hook code of an app, through the API of a real server.
import { join } from 'node:path';
import { type Caller, expectOk } from '../harness/api.ts';
import type { TestServer } from '../harness/server.ts';
import { setUp } from '../harness/set-up.ts';
import type { Bait } from './attempts/attempt.ts';
import { attempts } from './attempts/index.ts';
import { type Others, secret } from './bait.ts';
import { type Outcome, tryCode } from './outcome.ts';

const schema = (id: string) => ({ schema: { id, kind: 'base', fields: [{ name: 'title', kind: 'text' }] } });

/** Makes all attempts in one app of a new server, beside another that has secrets: one request each. */
export async function tryHooked(
  { url, dataDir }: TestServer,
  laid: Omit<Bait, keyof Others>,
): Promise<Map<number, Outcome>> {
  const admin = await setUp(url);
  const workspace = '/api/workspaces/acme';
  expectOk(await admin.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  for (const id of ['shop', 'bank']) expectOk(await admin.post(`${workspace}/apps`, { id, name: id }));
  const path = `${workspace}/apps/shop`;
  expectOk(await admin.post(`${path}/collections`, schema('posts')));
  const bait = { ...laid, ...await otherApp(admin, `${workspace}/apps/bank`, dataDir) };
  await putAll(admin, path, bait);
  const outcomes = new Map<number, Outcome>();
  for (const { id } of attempts) {
    const { status, body } = await admin.get(`${path}/custom/try/${id}`);
    outcomes.set(id, status === 200 ? body : { name: `${body.code}: ${body.message}` });
    // A new runner, as if nothing had happened.
    if (status !== 200) await putAll(admin, path, bait);
  }
  return outcomes;
}

/** Puts a secret into everything that an app can have, and answers what hook code of others is told of it. */
async function otherApp(admin: Caller, path: string, dataDir: string): Promise<Others> {
  expectOk(await admin.post(`${path}/collections`, schema('secrets')));
  const record = expectOk(await admin.post(`${path}/collections/secrets/records`, { title: secret }));
  const file = expectOk(await admin.post(`${path}/files`, secret, { 'Content-Type': 'text/plain' }));
  expectOk(await admin.put(`${path}/hooks/secret.js`, { source: `globalThis.kept = '${secret}';` }));
  expectOk(await admin.put(`${path}/hooks/env/SECRET`, { value: secret }));
  const OTHER = join(dataDir, 'hooks', 'acme', 'bank', 'secret.js');
  return { APP: 'bank', RECORD: String(record.id), FILE: String(file.id), OTHER };
}

async function putAll(admin: Caller, path: string, bait: Bait): Promise<void> {
  const put = expectOk(await admin.put(`${path}/hooks/attempts.js`, { source: hookFile(bait) }));
  if (put.reload.errors.length > 0) throw new Error(JSON.stringify(put.reload.errors));
}

function hookFile(bait: Bait): string {
  const consts = Object.entries(bait).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
  const goes = attempts.map(({ id, code }) => `  ${id}: async () => (${code}),`);
  return `${consts.join('\n')}
    const later = setTimeout;
    const attempts = {\n${goes.join('\n')}\n};
    ${tryCode}
    routerAdd('GET', '/try/:id', (e) => tryOne(attempts[e.params.id]));`;
}
