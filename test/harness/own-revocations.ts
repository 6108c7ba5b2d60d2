// What processes of a test's own know of tokens that were revoked, over a database of its own.
import { afterAll } from 'vitest';
import { Revocations } from '../../api/auth/tokens/revocations.ts';
import type { LogEvent } from '../../api/logging/events.ts';
import type { Storage } from '../../storage/boot/boot.ts';
import { uuidV7Source } from '../../storage/sql/ids.ts';
import { ownInstallation } from './database.ts';

/** The processes of a test file. */
export interface OwnRevocations {
  storage: Storage;
  /** Begins with another process; `now` is its clock, in milliseconds. */
  open(now: () => number, observe?: (fact: LogEvent) => void): Revocations;
}

/** Makes the database. It goes, and the processes end, behind the tests of the file. */
export async function ownRevocations(): Promise<OwnRevocations> {
  const installation = await ownInstallation();
  const storage = await installation.open();
  const opened: Revocations[] = [];
  afterAll(async () => {
    for (const revocations of opened) revocations.close();
    await installation.remove();
  });
  const open: OwnRevocations['open'] = (now, observe = () => undefined) => {
    const revocations = new Revocations({
      databases: storage.databases,
      now: () => new Date(now()),
      newId: uuidV7Source(now),
      observe,
      maxTokenLifeMs: 900_000,
    });
    opened.push(revocations);
    return revocations;
  };
  return { storage, open };
}
