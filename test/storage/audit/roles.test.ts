// The rights on an audit log: no role that the API connects as does more than append.
import { afterAll, describe, expect, it } from 'vitest';
import { workspaceLog } from '../../harness/audit-log.ts';
import { ownInstallation } from '../../harness/database.ts';

const own = await ownInstallation();
afterAll(() => own.remove());
const storage = await own.open();

describe('audit.integrity: none of the roles that the API uses', () => {
  const denied = '42501';
  const tables = ['log', 'queue', 'seals', 'head', 'checkpoints', 'totals'].map((name) => `audit_${name}`);
  const changes: [string, (table: string) => string][] = [
    ['change', (table) => `update ${table} set ${/log|queue|seals/.test(table) ? 'id = id' : 'seq = seq'}`],
    ['empty', (table) => `delete from ${table}`],
    ['truncate', (table) => `truncate ${table}`],
    ['alter', (table) => `alter table ${table} add column more text`],
    ['take the triggers off', (table) => `alter table ${table} disable trigger all`],
  ];
  const attempt = async (username: string, database: string, text: string) => {
    const isProvisioner = username === own.access.username;
    const password = isProvisioner ? own.access.password : storage.secrets.derivePassword(username);
    return await own.as(
      { database, username, password },
      (sql) =>
        sql.unsafe(text).then(
          () => 'allowed',
          (error: unknown) => error instanceof Error && 'code' in error ? String(error.code) : String(error),
        ),
    );
  };

  it.each(changes)('may %s any table of it', async (_verb, statement) => {
    const log = await workspaceLog(storage);
    for (const username of [own.access.username, log.database, log.schema]) {
      for (const table of tables) {
        const text = statement(`workspace.${table}`).replace(
          'workspace.audit_totals set seq = seq',
          'workspace.audit_totals set rows = 0',
        );
        expect([username, text, await attempt(username, log.database, text)]).toEqual([
          username,
          text,
          denied,
        ]);
      }
    }
    for (const table of tables) {
      const text = statement(`control.${table}`).replace(
        'control.audit_totals set seq = seq',
        'control.audit_totals set rows = 0',
      );
      expect([text, await attempt(own.access.username, own.access.database, text)]).toEqual([text, denied]);
    }
  });

  it('may forge seals, or let retention remove what is young, unsealed or not its to remove', async () => {
    const log = await workspaceLog(storage);
    for (let round = 0; round < 6; round++) await log.append('user_verify');
    await log.seal();
    const seal = `insert into workspace.audit_seals values (7, gen_random_uuid(), '')`;
    const prune = `select workspace.audit_prune(6, now() - interval '1 day', '', now())`;
    for (const username of [log.database, log.schema]) {
      expect(await attempt(username, log.database, seal)).toBe(denied);
      expect(await attempt(username, log.database, prune)).toBe(denied);
    }
    expect(await attempt(own.access.username, log.database, seal)).toBe(denied);
    expect(await attempt(own.access.username, log.database, prune)).toBe('40001');
    const beyond = `select workspace.audit_prune(7, now() + interval '1 day', '', now())`;
    expect(await attempt(own.access.username, log.database, beyond)).toBe('40001');
    const again = `select workspace.audit_seal(6, array[gen_random_uuid()], array['\\x00'::bytea])`;
    expect(await attempt(log.database, log.database, again)).toBe('40001');
    const unknown = `select workspace.audit_seal(7, array[gen_random_uuid()], array['\\x00'::bytea])`;
    expect(await attempt(log.database, log.database, unknown)).toBe('40001');
    expect(await attempt(log.schema, log.database, unknown)).toBe(denied);
    expect(await log.verify()).toMatchObject({ sound: 6, faulty: 0 });
  });
});
