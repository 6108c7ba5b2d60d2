// The messages between `bulkhead doctor` or `bulkhead mail test` and their programs of the API. Types only.
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

/** The first message to the program that sends a test mail. */
export interface MailTestStart {
  mail: Config['mail'];
  to: string;
}

/** What became of a test mail. */
export interface MailTestResult {
  host: string;
  port: number;
  /** Null where the mail server has taken the mail. */
  failure: {
    reason: string;
    /** The mail server's own words; empty where there are none. */
    response: string;
    /** False where trying again may help. */
    isFinal: boolean;
  } | null;
}
