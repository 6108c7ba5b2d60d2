// An audit log that takes no entry for a while.
import { expect } from 'vitest';
import type { Connection } from '../../storage/connections/pool.ts';
import type { ServerSchema } from '../../storage/sessions.ts';
import type { ApiResponse } from './api.ts';

/** Something that is written down when it is done. */
export interface Act {
  ask: () => Promise<ApiResponse>;
  /** What the act would change, and is the same after it was refused. */
  see: () => Promise<ApiResponse>;
}

/** Asks while the log is shut, as only its owner can do it, and looks before and after. */
export async function askInVain(
  { connection, schema }: { connection: Connection; schema: ServerSchema },
  { ask, see }: Act,
): Promise<void> {
  const alter = (change: string) =>
    connection.transaction((sql) =>
      sql.unsafe(`set local role bulkhead_auditor; alter table ${schema}.audit_log ${change}`)
    );
  const before = await see();
  await alter('add constraint shut check (false) not valid');
  const response = await ask().finally(() => alter('drop constraint shut'));
  expect(response.status).toBeGreaterThanOrEqual(400);
  const after = await see();
  expect([after.status, after.body]).toEqual([before.status, before.body]);
}
