// Queries that no view can have: each is refused as a whole, with a reason, and leaves nothing behind.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario, title } from '../../../harness/scenario.ts';

let own: Scenario;
let aliases = 0;

beforeAll(async () => {
  own = await scenario();
  await own.define('notes', [title, { name: 'total', kind: 'number' }]);
  await own.define('tags', [title, { name: 'note', kind: 'relation', target: 'notes', many: true }]);
  expectOk(await own.admin.post(own.records('notes'), { title: 'a', total: 1 }));
});

/** Selects one value for each note. */
const value = (expression: string) => `select id, ${expression} as v from notes`;
const from = (relation: string) => `select n.id, x.* from notes as n, ${relation} as x`;

const app = 'may read the collections of its own app';
const ownApp = 'which is no collection of the app';
const function_ = 'is not one that a view may call';
const volatile_ = 'is volatile';

/** Queries, and a part of the reason why each is refused. */
const hostile: [string, string][] = [
  // Several statements, and statements that are no SELECT.
  ['select id from notes; drop table notes', 'one SELECT'],
  ['select id from notes; select id from notes', 'one SELECT'],
  ['select id from notes;; --\n commit', 'one SELECT'],
  ['drop table notes', 'syntax error'],
  ['delete from notes returning id', 'syntax error'],
  ["insert into notes (id) values ('x') returning id", 'syntax error'],
  ['copy notes to stdout', 'syntax error'],
  ['do $$ begin end $$', 'syntax error'],
  ['explain select id from notes', 'syntax error'],
  ['begin', 'syntax error'],
  ['select id from notes) as x; drop table notes; --', 'syntax error'],
  ['select id into other from notes', 'SELECT INTO'],
  ['with gone as (delete from notes returning id) select id from gone', 'data-modifying'],
  ['with x as (insert into notes (id) select id from notes returning id) select id from x', 'data-modifying'],
  ['with x as (update notes set title = null returning id) select id from x', 'data-modifying'],
  ['select id from notes where id = $1', 'parameter'],
  ['select id from notes for update', 'ROWMARKCLAUSE'],
  ['select id from notes tablesample system (1)', 'TABLESAMPLECLAUSE'],
  // Other schemas, the catalogue, what the server keeps for itself, other apps.
  ['select id from workspace.users', app],
  ['select id from workspace.users_public', app],
  ['select id, token_hash as v from workspace.sessions', app],
  ['select id from users', 'does not exist'],
  ['select id, filename as v from _files', ownApp],
  ['select n.id, e.name as v from notes as n, _hook_environment as e', ownApp],
  ['select n.id, c.query as v from notes as n, _collections as c', ownApp],
  ['select n.id, c.filter as v from notes as n, _access_rules as c', ownApp],
  ['select n.id, c.version as v from notes as n, _migrations as c', ownApp],
  [from('pg_roles'), 'pg_roles'],
  [from('pg_catalog.pg_class'), 'pg_class'],
  [from('pg_stat_activity'), 'pg_stat_activity'],
  [from('pg_shadow'), 'pg_shadow'],
  [from('information_schema.tables'), 'information_schema'],
  ['select id, (select count(*) from pg_database) as v from notes', 'pg_database'],
  ['select id from notes where exists (select from pg_authid)', 'pg_authid'],
  // Functions that write, wait, read files or settings, run text as SQL, or give names of the catalogue away.
  [value('pg_sleep(10) is null'), volatile_],
  [value("pg_sleep_for(interval '1 day') is null"), volatile_],
  [value("set_config('role', 'none', false)"), volatile_],
  [value("current_setting('data_directory')"), function_],
  [value("pg_read_file('/etc/passwd')"), volatile_],
  [value("pg_ls_dir('/')"), volatile_],
  [value("lo_import('/etc/passwd')"), volatile_],
  [value('lo_get(1)::text'), volatile_],
  [value("lo_from_bytea(0, 'x')"), volatile_],
  [value('pg_advisory_lock(1) is null'), volatile_],
  [value('pg_terminate_backend(1)'), volatile_],
  [value("pg_notify('changes', 'x') is null"), volatile_],
  [value("query_to_xml('select 1', true, true, '')::text"), volatile_],
  [value("table_to_xml('notes', true, true, '')::text"), function_],
  [value("database_to_xml(true, true, '')::text"), function_],
  [value("dblink('host=127.0.0.1', 'select 1')"), 'does not exist'],
  [value("nextval('x')"), ''],
  [value('random()'), volatile_],
  [value('gen_random_uuid()'), volatile_],
  [value('clock_timestamp()'), volatile_],
  [value('txid_current()'), ''],
  [value('pg_backend_pid()'), function_],
  [value('inet_server_addr()::text'), function_],
  [value('version()'), function_],
  [value("has_table_privilege('notes', 'select')"), function_],
  [value("pg_get_viewdef('notes'::regclass)"), ''],
  [value("to_regclass('workspace.users')::text"), ''],
  [value("repeat('x', 1000000000)"), function_],
  [value("lpad('x', 1000000000)"), function_],
  [from('generate_series(1, 1000000000)'), function_],
  [value('_autonumber()::text'), ''],
  [value('pg_catalog.pg_sleep(1) is null'), volatile_],
  [value('"pg_sleep"(1) is null'), volatile_],
  [value('U&"pg\\005fsleep"(1) is null'), volatile_],
  [value('current_user'), 'role'],
  [value('session_user'), 'role'],
  [value('current_schema'), ''],
  [value('current_catalog'), 'role'],
  // Types that give names away, rows as a whole, and columns that PostgreSQL keeps for itself.
  [value("'notes'::regclass::text"), 'regclass'],
  [value('10::oid::regrole::text'), 'oid'],
  [value("'<a/>'::xml::text"), 'xml'],
  [value('notes'), 'whole rows'],
  [value('to_jsonb(notes)'), 'whole rows'],
  [value('notes::text'), 'whole rows'],
  [value('tableoid::text'), 'oid'],
  [value('xmin::text'), 'xid'],
  [value('ctid::text'), 'tid'],
  [value('age(xmin)::text'), 'xid'],
  [value('xmlforest(title as t)::text'), 'XMLEXPR'],
  // What makes no records.
  ['select title from notes', '"id"'],
  ['select title as id from notes', '"id"'],
  ['select id, id from notes', 'more than once'],
  [value('1 + 1').replace(' as v', ''), '"as"'],
  ['select id, total as "a b" from notes', '"as"'],
  ['select id, total as collection from notes', 'reserved'],
  ['select id, total as created_at from notes', 'must be a time'],
  [value('point(1, 2)'), ''],
  [value('1 / 0'), 'division by zero'],
  [`select id from notes -- ${'x'.repeat(10_000)}`, 'at most 10000'],
  [
    `select a.id from notes as a${', notes'.repeat(40).replaceAll(/notes/g, () => `notes as n${++aliases}`)}`,
    'at most 32',
  ],
];

describe('a view', () => {
  it.each(hostile)('is refused: %s', async (query, reason) => {
    const before = expectOk(await own.admin.get(own.collections));
    const response = await own.admin.post(own.collections, {
      schema: { id: 'hostile', kind: 'view', query },
    });
    expect(response.status, response.text).toBe(400);
    expect(response.body.errors[0].path).toBe('schema.query');
    expect(response.body.message).toContain(reason);
    expect(response.text).not.toMatch(/[aov]_[0-9a-z]{16}/);
    expect((await own.admin.get(own.collections)).body).toEqual(before);
    expect((await own.admin.get(own.records('notes'))).body.total_items).toBe(1);
  });
});
