// Values that hooks read as `$app.env`: what the database holds of them, and how much an app may have.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../../api/apps/create.ts';
import { openEnvironment, putVariable } from '../../../api/hooks/environment.ts';
import type { HookLoader } from '../../../api/hooks/ports.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { listHookVariables } from '../../../storage/app/hook-environment.ts';
import { Secrets } from '../../../storage/secrets.ts';
import { type BareApp, bareApp } from '../../harness/bare-app.ts';

const secrets = new Secrets(randomBytes(32));
/** Of apps without hooks. */
const hooks: HookLoader = {
  reload: () => Promise.resolve({ loaded: [], errors: [] }),
  check: () => Promise.resolve([]),
  drop: () => undefined,
  dropWorkspace: () => undefined,
};

let bare: BareApp;
let app: AppDefinition;

beforeAll(async () => {
  bare = await bareApp();
  app = await bare.definition();
});
afterAll(() => bare.end());

async function newApp(id: string): Promise<AppDefinition> {
  await createApp(bare.deps, app.workspace, { id, name: id, caller: bare.by });
  const made = await bare.deps.definitions.app(app.workspace.id, id);
  if (made === undefined) throw new Error('the app is not there');
  return made;
}

const put = (name: string, value: string, to = app) =>
  putVariable({ ...bare.deps, secrets, hooks }, to, { name, value, by: bare.by });
const rowsOf = ({ workspace, schema }: AppDefinition) =>
  bare.deps.databases.app(workspace.database, schema).run((sql) => listHookVariables(sql, schema));
const open = (of: AppDefinition) => openEnvironment({ ...bare.deps, secrets }, of);

it('are sealed in the database, each for its own app and name', async () => {
  await put('KEY', 'open sesame');
  const [row] = await rowsOf(app);
  expect(row?.name).toBe('KEY');
  expect(row?.sealed.toString('latin1')).not.toContain('sesame');
  expect(await open(app)).toEqual({ KEY: 'open sesame' });

  const other = await newApp('bank');
  if (row === undefined) throw new Error('what the test works with is not there');
  for (const [to, name] of [[other, 'KEY'], [app, 'LOCK']] as const) {
    await put(name, 'another', to);
    await bare.deps.databases.app(to.workspace.database, to.schema).run((sql) =>
      sql.unsafe(`update "${to.schema}"._hook_environment set sealed = $1 where name = $2`, [
        row.sealed,
        name,
      ])
    );
    await expect(open(to)).rejects.toThrow();
  }
  await put('LOCK', 'mended');
  expect(await open(app)).toEqual({ KEY: 'open sesame', LOCK: 'mended' });
});

it('are 100 of 32 KiB for an app', async () => {
  const many = await newApp('many');
  await put('V1', 'ü'.repeat(16_384), many);
  await expect(put('V2', `${'ü'.repeat(16_384)}x`, many)).rejects.toThrow(
    'value: must have at most 32768 bytes',
  );
  for (let name = 2; name <= 100; name++) await put(`V${name}`, 'x', many);
  await expect(put('V101', 'x', many)).rejects.toMatchObject({ code: 'conflict' });
  await put('V100', 'another', many);
});
