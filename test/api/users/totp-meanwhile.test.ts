// A second factor that is confirmed twice at once.
import { Secret, TOTP } from 'otpauth';
import { expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../harness/api.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { expectError } from '../../harness/expectations.ts';
import { ownUser } from '../../harness/users.ts';
import { responseMeanwhile } from '../../harness/waiting.ts';

it('has the recovery codes of whoever confirmed it first', async () => {
  const own = await ownWorkspace();
  const user = await ownUser(own);
  const { secret } = expectOk(await user.post(`${own.path}/auth/totp/enroll`));
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const pool = await openDatabaseOf(own.id);
  const hash = Buffer.from('of the first');
  const response = await responseMeanwhile(
    pool,
    async (sql) => {
      await sql`update workspace.users set totp_enabled = true, totp_last_step = 1 where id = ${user.id}`;
      await sql`insert into workspace.recovery_codes (user_id, hash) values (${user.id}, ${hash})`;
    },
    () => user.post(`${own.path}/auth/totp/confirm`, { code: totp.generate() }),
  );
  expectError(response, 409, 'conflict');
  const codes = await pool.run((sql) =>
    sql`select hash from workspace.recovery_codes where user_id = ${user.id}`
  );
  expect(codes).toEqual([{ hash }]);
  await pool.end();
});
