// Verifiers that let a role log in without its password ever being sent.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quoteLiteral } from '../../../storage/sql/quote.ts';
import { scramVerifier } from '../../../storage/provision/scram.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

it('makes the verifier of the example of RFC 7677', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(scramVerifier('pencil', salt, 4096)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=' +
      ':wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});

it('makes a verifier that PostgreSQL admits the password by, and no other', async () => {
  const role = own.access.database;
  const verifier = scramVerifier('p4ss w\u00f6rd', randomBytes(16), 4096);
  await own.as({}, (sql) => sql.unsafe(`create role ${role} login password ${quoteLiteral(verifier)}`));
  try {
    await own.as({}, (sql) => sql.unsafe(`grant connect on database ${role} to ${role}`));
    const who = (password: string) =>
      own.as({ username: role, password }, (sql) => sql`select current_user::text as role`);
    expect(await who('p4ss w\u00f6rd')).toEqual([{ role }]);
    await expect(who('password')).rejects.toMatchObject({ failure: 'unavailable' });
  } finally {
    await own.as(
      {},
      (sql) =>
        sql.unsafe(`drop owned by ${role}; drop role ${role}`).catch(() =>
          sql.unsafe(`revoke all on database ${role} from ${role}; drop role ${role}`)
        ),
    );
  }
});
