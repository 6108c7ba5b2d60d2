// Migrations: once each, resumed after a crash, refused for a newer database.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import { type Migrations, readMigrations } from '../../../storage/boot/migrate.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { makeDatabase } from '../../../storage/provision/database.ts';
import { StartRefused } from '../../../storage/boot/start-refused.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeApp } from '../../harness/tenants.ts';

let own: OwnInstallation;
let real: Migrations;
let folder: string;

beforeAll(async () => {
  own = await ownInstallation();
  real = await readMigrations();
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-migrations-'));
});
afterAll(async () => {
  await own.remove();
  await rm(folder, { recursive: true });
});

/** The real migrations and one more of each set. */
function extended(workspace = 'alter table workspace.users add column shoe_size integer'): Migrations {
  const add = (set: keyof Migrations, text: string) => [
    ...real[set],
    { version: real[set].length + 1, name: '9999_more.sql', text },
  ];
  return {
    control: add('control', 'create table control.extra (id int)'),
    workspace: add('workspace', workspace),
    app: add('app', 'create table _extra (id int)'),
  };
}

const hasColumn = (storage: Storage, database: string) =>
  storage.databases.provisioner(database).run((sql) =>
    sql`select 1 from information_schema.columns where column_name = 'shoe_size'`
  ).then((rows) => rows.length === 1);

it('reads numbered files only, in order, and refuses a gap', async () => {
  for (const set of ['control', 'workspace', 'app']) await mkdir(join(folder, set));
  const from = pathToFileURL(`${folder}/`);
  await writeFile(join(folder, 'app', '0001_a.sql'), 'select 1');
  await writeFile(join(folder, 'app', '0002_b.sql'), 'select 2');
  await writeFile(join(folder, 'app', 'notes.txt'), 'not a migration');
  expect((await readMigrations(from)).app.map(({ name }) => name)).toEqual(['0001_a.sql', '0002_b.sql']);
  await writeFile(join(folder, 'app', '0004_d.sql'), 'select 4');
  await expect(readMigrations(from)).rejects.toThrow('migrations/app/0004_d.sql: expected number 3');
});

it('brings the whole fleet up, reports how far it is, and completes what a failure in the middle left', async () => {
  const first = await own.open();
  const databases = [await makeDatabase(first.provisioning), await makeDatabase(first.provisioning)];
  const apps = await Promise.all(databases.map((database) => makeApp(first, database)));
  await first.close();

  const [spared, broken] = databases;
  const failing = `do $$ begin
    if current_database() = '${broken}' then raise exception 'killed here'; end if;
  end $$; alter table workspace.users add column shoe_size integer`;
  await expect(own.open({ migrations: extended(failing) })).rejects.toThrow('killed here');

  const reports: string[] = [];
  const second = await own.open({
    migrations: extended(),
    report: (done, total) => reports.push(`${done}/${total}`),
  });
  expect(reports.at(-1)).toMatch(/^(1\/1|2\/2)$/);
  for (const database of [spared, broken]) expect(await hasColumn(second, database ?? '')).toBe(true);
  for (const [at, schema] of apps.entries()) {
    const rows = await second.databases.app(databases[at] ?? '', schema).run((sql) =>
      sql`select (select count(*)::int from ${sql(schema)}._extra) as extra, tableowner as owner
        from pg_tables where tablename = '_extra'`
    );
    // The app and the ready one, each its own.
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ extra: 0, owner: ownerRole(schema) });
  }
  await second.close();

  reports.length = 0;
  const third = await own.open({
    migrations: extended(),
    report: (done, total) => reports.push(`${done}/${total}`),
  });
  expect(reports).toEqual([]);
  expect(await makeDatabase(third.provisioning).then((database) => hasColumn(third, database))).toBe(true);
  await third.close();
});

/** As earlier releases made an app: its one role owns the schema, and may point to users. */
async function makeAsBefore(storage: Storage): Promise<{ database: string; schema: string }> {
  const database = await makeDatabase(storage.provisioning);
  const schema = await makeApp(storage, database);
  const owner = ownerRole(schema);
  await storage.databases.provisioner(database).transaction(async (sql) => {
    await sql.unsafe(`grant ${schema}, ${owner} to current_user with inherit true;
      grant create on database ${database} to ${schema}; reassign owned by ${owner} to ${schema};
      drop owned by ${owner}; drop role ${owner}; revoke create on database ${database} from ${schema};
      grant ${schema} to current_user with inherit false;
      grant references (id) on workspace.users to ${storage.provisioning.names.groups.app}`);
  });
  return { database, schema };
}

it('gives an app of an earlier release an owner that its role cannot become', async () => {
  const upgraded = await ownInstallation();
  try {
    const earlier = { ...real, workspace: real.workspace.slice(0, 11), app: real.app.slice(0, 3) };
    const before = await upgraded.open({ migrations: earlier });
    const { database, schema } = await makeAsBefore(before);
    const asBefore = before.databases.app(database, schema);
    await asBefore.run((sql) =>
      sql.unsafe(`create table ${schema}.notes (id uuid primary key,
      author uuid references workspace.users (id) on delete cascade, other uuid references ${schema}.notes (id))`)
    );
    const note = randomUUID();
    const user = randomUUID();
    await before.databases.workspace(database).run((sql) =>
      sql`insert into workspace.users (id, email, created_at, updated_at) values (${user}, 'a@b.example', now(), now())`
    );
    await asBefore.run((sql) =>
      sql`insert into ${sql(`${schema}.notes`)} values (${note}, ${user}, ${note})`
    );
    await before.close();

    const after = await upgraded.open({ migrations: real });
    const app = after.databases.app(database, schema);
    expect(await app.run((sql) => sql`select id, author from ${sql(`${schema}.notes`)}`)).toEqual([{
      id: note,
      author: user,
    }]);
    await app.run((sql) => sql`update ${sql(`${schema}.notes`)} set other = null`);
    await expect(app.run((sql) => sql.unsafe(`alter table ${schema}.notes add column more text`))).rejects
      .toThrow(
        'must be owner',
      );
    await expect(app.run((sql) => sql.unsafe(`create table ${schema}.more ()`))).rejects.toThrow(
      'permission denied',
    );
    const owner = after.databases.appOwner(database, schema);
    await owner.run((sql) =>
      sql.unsafe(`alter table ${schema}.notes add column more text; create table ${schema}.more ()`)
    );
    expect(await app.run((sql) => sql`select * from ${sql(`${schema}.more`)}`)).toEqual([]);
    await after.databases.workspace(database).run((sql) =>
      sql`delete from workspace.users where id = ${user}`
    );
    expect(await app.run((sql) => sql`select * from ${sql(`${schema}.notes`)}`)).toEqual([]);
    const [row] = await after.databases.provisioner(database).run((sql) =>
      sql`
      select count(*)::int as left_to_app from pg_class where relowner = ${schema}::regrole`
    );
    expect(row).toEqual({ left_to_app: 0 });
    await after.close();
  } finally {
    await upgraded.remove();
  }
});

it('refuses a database that is newer than the program, with one clear line', async () => {
  const opening = own.open();
  await expect(opening).rejects.toThrow(StartRefused);
  await expect(opening).rejects.toThrow(
    /^the database is newer than this program: schema control is at version \d+, this program knows \d+; start a newer Bulkhead$/,
  );
  const { workspace, app } = real;
  await expect(own.open({ migrations: { ...extended(), workspace, app } })).rejects.toThrow(
    /a workspace is at version \d+, this program knows \d+/,
  );
  await expect(own.open({ migrations: { ...extended(), app } })).rejects.toThrow(
    /an app is at version \d+, this program knows \d+/,
  );
});

it.each([['of one server', 1], ['of two servers', 0]])(
  'does no harm when two processes start at once: %s',
  async (_, worker) => {
    const other = await ownInstallation();
    try {
      const [opened] = await Promise.all([other.open(), other.open({ worker })]);
      const versions = await opened.databases.control.run((sql) =>
        sql`select version from control.migrations`
      );
      expect(versions).toHaveLength(real.control.length);
      expect(await makeDatabase(opened.provisioning)).toMatch(/^w_/);
    } finally {
      await other.remove();
    }
  },
);
