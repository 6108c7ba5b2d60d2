// Pages and totals of audit logs, compared with those of the plainest statements.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditFilter, listAudit, listAuditBefore } from '../../../storage/audit/listing.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { workspaceLog } from '../../harness/audit-log.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

type Log = Awaited<ReturnType<typeof workspaceLog>>;
interface Plain {
  id: string;
  actor: string;
  action: string;
  app_schema: string | null;
}

let own: OwnInstallation;
let storage: Storage;
let log: Log;
let plain: readonly Plain[];
const actions = ['login_success', 'login_failed', 'rule_set', 'user_verify'];
const actors = ['ada@example.com', 'bob@example.com', 'system'];

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  log = await workspaceLog(storage);
  for (let index = 0; index < 120; index++) {
    const actor = actors[index % 3] ?? '';
    const action = actions[(index * 7) % 4] ?? '';
    await (index % 5 === 0 ? log.appendInApp(action, { actor }) : log.append(action, { actor }));
    if (index === 100) await log.seal();
  }
  plain = await log.connection.run((sql) =>
    sql<Plain[]>`select id, actor, action, app_schema from workspace.audit_log order by id desc`
  );
});
afterAll(() => own.remove());

const filters: AuditFilter[] = [
  {},
  { action: 'LOGIN' },
  { action: 'set' },
  { action: '_' },
  { action: 'nothing' },
  { actor: 'ada@example.com' },
  { actor: 'ada@example.com', action: 'login_f' },
  { actor: 'nobody' },
];

describe.each(['workspace', 'app'])('audit.paging: the log of a %s', (kind) => {
  const scope = () =>
    kind === 'app'
      ? { schema: 'workspace' as const, appSchema: log.schema }
      : { schema: 'workspace' as const };
  const expected = ({ action = '', actor }: AuditFilter) =>
    plain.filter((row) =>
      (kind === 'workspace' || row.app_schema === log.schema) &&
      row.action.includes(action.toLowerCase()) && (actor === undefined || row.actor === actor)
    ).map(({ id }) => id);

  it.each(filters)(
    'has every page and the exact total of %o, of rows with and without a seal',
    async (filter) => {
      const wanted = expected(filter);
      for (
        const [page, per_page] of [[1, 7], [2, 7], [4, 7], [9, 10], [12, 10], [13, 10], [1, 200], [
          99,
          200,
        ]] as const
      ) {
        for (const count of [true, false]) {
          const found = await log.connection.run((sql) =>
            listAudit(sql, { scope: scope(), filter }, { page, per_page, count })
          );
          const slice = wanted.slice((page - 1) * per_page, page * per_page);
          expect([page, per_page, count, found.items.map(({ id }) => id)]).toEqual([
            page,
            per_page,
            count,
            slice,
          ]);
          expect(found.total_items).toBe(count ? wanted.length : -1);
        }
      }
    },
  );

  it.each(filters)('is read to its end in pieces with %o', async (filter) => {
    const ids: string[] = [];
    for (;;) {
      const before = ids.at(-1);
      const piece = await log.connection.run((sql) =>
        listAuditBefore(sql, { scope: scope(), filter }, { before, limit: 13 })
      );
      ids.push(...piece.map(({ id }) => id));
      if (piece.length < 13) break;
    }
    expect(ids).toEqual(expected(filter));
  });
});
