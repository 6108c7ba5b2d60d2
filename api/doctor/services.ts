// The program behind `bulkhead doctor`: tries what the server connects to, and compares the clocks.
import type { Finding, ServicesStart } from '../../supervisor/doctor/protocol.ts';
import { runAsOneShot } from '../process/one-shot.ts';
import { examineBucket } from './bucket.ts';
import { examineClocks, type ForeignClock } from './clocks.ts';
import { examineDatabase } from './database.ts';
import { examineMail } from './mail.ts';

/** Tries everything at the same time, and reports in a fixed order. */
async function examine(
  { database, masterKey, mail, storage }: ServicesStart,
  report: (finding: Finding) => void,
): Promise<void> {
  const clocks: ForeignClock[] = [];
  const [ofDatabase, ofMail, ofBucket] = await Promise.all([
    database === null ? undefined : examineDatabase(database, { masterKey, clocks }),
    examineMail(mail),
    storage.backend === 's3' ? examineBucket(storage.s3, clocks) : undefined,
  ]);
  for (const finding of [ofDatabase, examineClocks(clocks), ofMail, ofBucket]) {
    if (finding !== undefined) report(finding);
  }
}

runAsOneShot(examine);
