// Statements that fail after their first rows leave nothing to the next one.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../../storage/connections/client.ts';
import { Outage } from '../../../storage/connections/outage.ts';
import { selectRows } from '../../../storage/sql/rows.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;

beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

it('fails by itself: the statements behind it have their own rows, from the first on', async () => {
  const client = new Client(own.access, { now: 0, onLost: () => undefined, outage: new Outage() });
  const failing = { text: 'select 1 / (4 - i) from generate_series(1, 10) as i' };
  const counting = { text: 'select i from generate_series(1, $1::int) as i', prepare: true };
  for (const pipelined of [true, false]) {
    const failed = Promise.allSettled([selectRows(client.sql, failing, [])]);
    if (!pipelined) await failed;
    expect(await selectRows(client.sql, counting, [2])).toEqual([[1], [2]]);
    expect(await selectRows(client.sql, counting, [1])).toEqual([[1]]);
    expect(await failed).toMatchObject([{ status: 'rejected', reason: { code: '22012' } }]);
  }
  const undone = client.transaction((sql) => selectRows(sql, failing, []));
  await expect(undone).rejects.toMatchObject({ code: '22012' });
  expect(await selectRows(client.sql, counting, [1])).toEqual([[1]]);
  await client.close(1);
});
