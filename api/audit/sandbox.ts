// Records in the audit log at which sandbox level hooks run, and since when.
import { listAudit } from '../../storage/audit/listing.ts';
import type { Deps } from '../deps.ts';
import { auditSystem } from './write.ts';

const action = 'sandbox_set';

/** Appends an entry at system scope when the level differs from that of the last entry. */
export async function recordSandbox(
  deps: Pick<Deps, 'databases' | 'sandbox' | 'newId' | 'now'>,
): Promise<void> {
  const { level, why } = deps.sandbox;
  await deps.databases.control.run(async (sql) => {
    const { items: [last] } = await listAudit(sql, { scope: { schema: 'control' }, filter: { action } }, {
      page: 1,
      per_page: 1,
      count: false,
    });
    if (last?.details['level'] === level) return;
    await auditSystem(sql, deps, { actor: 'system', action, target: 'hooks', details: { level, why } });
  });
}
