// What the driver makes for each statement and each transaction, and for how long V8 keeps it.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnInstallation, ownInstallation } from '../../../harness/database.ts';

let own: OwnInstallation;

beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

/** In a process of its own: here the driver was loaded long before, by the tests' own harness. */
const program = `
  import { Client } from '${new URL('../../../../storage/connections/client.ts', import.meta.url).href}';
  import { Outage } from '${new URL('../../../../storage/connections/outage.ts', import.meta.url).href}';
  const options = { now: 0, onLost: () => undefined, outage: new Outage() };
  const client = new Client(JSON.parse(process.env.ACCESS), options);
  const statement = client.sql.unsafe('select 1 as one');
  const young = { resolve: %InYoungGeneration(statement.resolve), reject: %InYoungGeneration(statement.reject) };
  const rows = await statement;
  const [{ one }] = rows;
  const { count, command, columns: [{ name }] } = rows;
  const told = [count, command, name, Object.keys(rows).join(), rows.map(({ one }) => one).constructor === Array];
  const failed = await client.sql.unsafe('select nothing').then(() => undefined, ({ code }) => code);
  const sum = await client.transaction(async (sql) => {
    young.prepare = %InYoungGeneration(sql.prepare);
    const rows = await Promise.all([sql\`select 1 as n\`, sql\`select 2 as n\`]);
    return rows.flat().reduce((total, { n }) => total + n, 0);
  });
  await client.close(1);
  process.stdout.write(JSON.stringify({ young, one, told, failed, sum }));
`;

it('is young when it is made: nothing of a statement outlives it for being made among the old objects', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--allow-natives-syntax', '--input-type=module', '--eval', program],
    { encoding: 'utf8', env: { ACCESS: JSON.stringify(own.access) } },
  );
  expect([stdout, stderr]).toEqual([
    JSON.stringify({
      young: { resolve: true, reject: true, prepare: true },
      one: 1,
      // The members besides the rows, which are all that can be enumerated.
      told: [1, 'SELECT', 'one', '0', true],
      failed: '42703',
      sum: 3,
    }),
    '',
  ]);
});
