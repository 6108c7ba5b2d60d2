// Users as the server's own code reads them for an app.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findUserRecord } from '../../../api/users/records.ts';
import { type BareApp, bareApp, created } from '../../harness/bare-app.ts';
import { enrolUser } from '../../../storage/workspace/enrol-user.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
});
afterAll(() => app.end());

it('a user is found as a record, without its hash', async () => {
  const user = { id: randomUUID(), email: 'ada@example.com', password_hash: 'a hash', now: created };
  await app.run((sql) => enrolUser(sql, user));
  const found = await findUserRecord(app.deps, await app.definition(), user.id);
  // As it is told on: its JSON is text until then.
  expect(JSON.parse(JSON.stringify(found))).toEqual({
    id: user.id,
    collection: 'users',
    fields: {
      email: 'ada@example.com',
      verified: false,
      has_password: true,
      totp_enabled: false,
      oauth_providers: [],
      last_login: null,
    },
    created_at: created.toISOString(),
    updated_at: created.toISOString(),
  });
});

it('a user who does not exist is not found, whatever the id', async () => {
  for (const id of [randomUUID(), 'nobody', '']) {
    expect(await findUserRecord(app.deps, await app.definition(), id)).toBeUndefined();
  }
});
