// The messages between `bulkhead doctor` and its program of the API. Types only.
import type { Config, DatabaseAccess } from '../protocol.ts';

/** The result of one check. */
export interface Finding {
  /** What was checked, such as `port`. */
  check: string;
  status: 'ok' | 'warning' | 'failed';
  /** One line. */
  message: string;
  /** What to do; null where nothing is wrong. */
  advice: string | null;
}

/** The first message to the program that tries the services of the server. */
export interface ServicesStart {
  /** Null where the database is not to be tried. */
  database: DatabaseAccess | null;
  /** 32 bytes as base64; null where there is none yet. */
  masterKey: string | null;
  mail: Config['mail'];
  storage: Config['storage'];
}
