// Transactions that begin when the socket has no room left: the driver reserves their connection all the same.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgres } from '../../../../storage/connections/driver/driver.ts';
import { openSocket } from '../../../../storage/connections/driver/socket.ts';
import { type OwnInstallation, ownInstallation } from '../../../harness/database.ts';

let own: OwnInstallation;

beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

/** A socket whose buffer is always full. */
async function fullSocket() {
  const { socket, release } = await openSocket(own.access, () => undefined);
  release();
  const write = socket.write.bind(socket);
  socket.write = (bytes: Uint8Array | string) => {
    write(bytes);
    return false;
  };
  return socket;
}

it('keeps other statements out of the transaction', async () => {
  const { database, username, password } = own.access;
  const login = { database, username, password, max: 1, fetch_types: false, socket: fullSocket };
  const sql = postgres(login);
  const text = 'select length($1::text) as length';
  await sql.unsafe(text, [''], { prepare: true });
  // The driver sends together what comes within one turn, when it is 1 KiB: one of these lengths leaves it to `begin`.
  for (let length = 950; length < 990; length += 5) {
    const before = sql.unsafe(text, ['x'.repeat(length)], { prepare: true }).execute();
    const sum = sql.begin(async (own) => {
      const [first] = await own<{ n: number }[]>`select 1 as n`;
      const [second] = await own<{ n: number }[]>`select 2 as n`;
      return (first?.n ?? 0) + (second?.n ?? 0);
    });
    expect(await Promise.allSettled([before, sum])).toMatchObject([{ value: [{ length }] }, { value: 3 }]);
  }
  await sql.end({ timeout: 1 });
});
