// Two API processes with caches of their own: one changes a collection, and the other has not been notified yet.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../../api/apps/create.ts';
import type { Caller } from '../../../../api/audit/actor.ts';
import { alterCollection } from '../../../../api/collections/alter.ts';
import { createCollection } from '../../../../api/collections/create.ts';
import { dropCollection } from '../../../../api/collections/drop.ts';
import type { RecordTarget } from '../../../../api/records/collection.ts';
import { createRecord } from '../../../../api/records/create.ts';
import { getRecord } from '../../../../api/records/get.ts';
import { listRecords } from '../../../../api/records/list.ts';
import { removeRecord } from '../../../../api/records/remove.ts';
import { updateRecord } from '../../../../api/records/update.ts';
import { admit, unboundedAccess } from '../../../../api/rules/access.ts';
import { putRule } from '../../../../api/rules/change.ts';
import { createWorkspace } from '../../../../api/workspaces/create.ts';
import type { AppDefinition, Field } from '../../../../storage/definition.ts';
import { uuidV7Source } from '../../../../storage/sql/ids.ts';
import { type BareDeps, bareDeps } from '../../../harness/bare-app.ts';
import { type OwnInstallation, ownInstallation } from '../../../harness/database.ts';

const now = () => new Date();
const newId = uuidV7Source(Date.now);
const by: Caller = {
  principal: { role: 'master_admin', id: newId(), jti: newId(), issuedAt: 0, expiresAt: 0 },
  origin: { requestId: 'test', ip: '127.0.0.1', userAgent: '' },
  now: now(),
};
const access = unboundedAccess('list', now());
const page = { page: 1, per_page: 30, count: true };
const base: Field = { name: 'base', kind: 'text' };

let own: OwnInstallation;
/** Changes collections. */
let writer: BareDeps;
/** Serves records, and knows the collections as they were. */
let reader: BareDeps;

beforeAll(async () => {
  own = await ownInstallation();
  writer = await start();
  reader = await start();
  await createWorkspace(writer, { id: 'acme', name: 'Acme' }, by);
  const workspace = await writer.definitions.workspace('acme');
  if (workspace === undefined) throw new Error('the workspace is not there');
  await createApp(writer, workspace, { id: 'shop', name: 'Shop', caller: by });
});
afterAll(async () => {
  await own.as({}, (sql) => sql`delete from control.workspaces`);
  await own.remove();
});

async function start(): Promise<BareDeps> {
  return bareDeps(await own.open(), { now, newId });
}

async function appOf({ definitions }: BareDeps): Promise<AppDefinition> {
  const app = await definitions.app('acme', 'shop');
  if (app === undefined) throw new Error('the app is not there');
  return app;
}

async function define(id: string, fields: Field[]): Promise<void> {
  await createCollection(writer, await appOf(writer), { declared: { id, fields }, by });
}

async function alter(id: string, fields: Field[]): Promise<void> {
  await alterCollection(writer, await appOf(writer), { id, declared: { fields }, drop: true, by });
}

/** The collection as the reading process knows it, with its statements prepared. */
async function known(id: string): Promise<RecordTarget> {
  await reader.definitions.invalidate('acme', 'shop');
  const app = await appOf(reader);
  const collection = app.collections.get(id);
  if (collection === undefined) throw new Error(`${id} is not there`);
  await listRecords(reader, { app, collection }, { access, page });
  const input = collection.fields[0]?.kind === 'text' ? { base: 'first' } : {};
  await createRecord(reader, { app, collection }, { access, input, now: now() });
  return { app, collection };
}

describe('a process that has not been notified of a change', () => {
  it('reads and writes a collection that lost a field, as it is now', async () => {
    await define('lost', [base, { name: 'gone', kind: 'text' }]);
    const target = await known('lost');
    const [record] = (await listRecords(reader, target, { access, page })).items;
    const id = String(record?.id);
    await alter('lost', [base]);
    expect((await getRecord(reader, target, { access, id })).fields).toEqual({ base: 'first' });
    const updated = await updateRecord(reader, target, { access, id, input: { base: 'b' }, now: now() });
    expect(updated.fields).toEqual({ base: 'b' });
    const created = await createRecord(reader, target, { access, input: { base: 'c' }, now: now() });
    expect(created.fields).toEqual({ base: 'c' });
    expect((await listRecords(reader, target, { access, page })).items).toHaveLength(2);
    await expect(createRecord(reader, target, { access, input: { gone: 'x' }, now: now() }))
      .rejects.toMatchObject({ code: 'validation', message: 'gone: unknown field' });
  });

  it('reads a collection that changes again each time that its definition has just been read', async () => {
    const fields = ['a', 'b', 'c'].map((name): Field => ({ name, kind: 'text' }));
    await define('restless', [base, ...fields]);
    const target = await known('restless');
    const change = () => {
      fields.shift();
      return alter('restless', [base, ...fields]);
    };
    await change();
    const { definitions } = reader;
    const restless: typeof definitions = {
      ...definitions,
      peekApp: (...place) => definitions.peekApp(...place),
      invalidate: (...place) => definitions.invalidate(...place),
      app: async (...place) => {
        const found = await definitions.app(...place);
        if (found !== target.app && fields.length > 0) await change();
        return found;
      },
    };
    const creation = { access, input: { base: 'x' }, now: now() };
    const created = await createRecord({ ...reader, definitions: restless }, target, creation);
    expect(fields).toEqual([]);
    expect(created.fields).toEqual({ base: 'x' });
  });

  it.each<[Field['kind'], string]>([
    ['number', 'v: must be a number'],
    ['bool', 'v: must be true or false'],
    ['datetime', 'v: must be a date and time'],
    ['file', 'v: must be the id (UUID) of a file'],
  ])(
    'reads a field that came back as %s, and writes nothing of the old kind to it',
    async (kind, message) => {
      const id = `reborn_${kind}`;
      await define(id, [base, { name: 'v', kind: 'text' }]);
      const target = await known(id);
      const old = await createRecord(reader, target, { access, input: { v: 'text' }, now: now() });
      await alter(id, [base]);
      await alter(id, [base, { name: 'v', kind }]);
      expect((await getRecord(reader, target, { access, id: old.id })).fields).toEqual({
        base: null,
        v: null,
      });
      expect((await listRecords(reader, target, { access, page })).total_items).toBe(2);
      const refused = { code: 'validation', message: expect.stringContaining(message) };
      const stale = { access, input: { v: 'text' }, now: now() };
      await expect(createRecord(reader, target, stale)).rejects.toMatchObject(refused);
      await expect(updateRecord(reader, target, { ...stale, id: old.id })).rejects.toMatchObject(refused);
      const created = await createRecord(reader, target, { access, input: { base: 'x' }, now: now() });
      expect(created.fields).toEqual({ base: 'x', v: null });
    },
  );

  it('applies the rule as it is now to a caller whom the old one admitted', async () => {
    await define('closed', [base, { name: 'v', kind: 'text' }]);
    const rule = async (action: string, template: 'any' | 'admin') => {
      const app = await appOf(writer);
      const collection = app.collections.get('closed');
      if (collection === undefined) throw new Error('closed is not there');
      await putRule(writer, { app, collection }, { template }, { action, by });
    };
    for (const action of ['get', 'create']) await rule(action, 'any');
    const target = await known('closed');
    const { id } = await createRecord(reader, target, { access, input: {}, now: now() });
    const asking = { principal: null, now: now(), query: {} };
    const [getting, creating] = [
      await admit(reader, target, 'get', asking),
      await admit(reader, target, 'create', asking),
    ];
    await alter('closed', [base]);
    for (const action of ['get', 'create']) await rule(action, 'admin');
    const refused = { code: 'unauthorized' };
    await expect(getRecord(reader, target, { access: getting, id })).rejects.toMatchObject(refused);
    const creation = { access: creating, input: {}, now: now() };
    await expect(createRecord(reader, target, creation)).rejects.toMatchObject(refused);
  });

  it('takes a rule about a field that was just added behind a relation', async () => {
    await define('authors', [base]);
    await define('books', [base, { name: 'author', kind: 'relation', target: 'authors' }]);
    const target = await known('books');
    await alter('authors', [base, { name: 'age', kind: 'number' }]);
    const rule = { template: 'filter', filter: 'author.age > 1' } as const;
    const set = await putRule(reader, target, rule, { action: 'get', by });
    expect(set).toEqual({ collection: 'books', action: 'get', ...rule });
  });

  it('works on a collection that was created again under the same id', async () => {
    await define('again', [base]);
    const target = await known('again');
    await dropCollection(writer, await appOf(writer), { id: 'again', by });
    await define('again', [{ name: 'base', kind: 'number', default: 7 }]);
    await expect(createRecord(reader, target, { access, input: { base: 'text' }, now: now() }))
      .rejects.toMatchObject({ code: 'validation', message: 'base: must be a number' });
    expect((await createRecord(reader, await known('again'), { access, input: {}, now: now() })).fields)
      .toEqual({ base: 7 });
  });

  it('responds with 404 for a deleted collection, whatever the request', async () => {
    await define('gone', [base]);
    const target = await known('gone');
    await dropCollection(writer, await appOf(writer), { id: 'gone', by });
    const id = randomUUID();
    const missing = { code: 'not_found', message: 'collection "gone" does not exist' };
    await expect(getRecord(reader, target, { access, id })).rejects.toMatchObject(missing);
    await expect(listRecords(reader, target, { access, page })).rejects.toMatchObject(missing);
    await expect(createRecord(reader, target, { access, input: {}, now: now() })).rejects.toMatchObject(
      missing,
    );
    await expect(updateRecord(reader, target, { access, id, input: {}, now: now() })).rejects.toMatchObject(
      missing,
    );
    await expect(removeRecord(reader, target, { access, id, now: now() })).rejects.toMatchObject(missing);
  });
});
