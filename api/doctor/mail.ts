// Tries the mail server: the connection, TLS, and the name and password. No mail is sent.
import type { Finding } from '../../supervisor/doctor/protocol.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { explainMailFailure } from '../mail/failure.ts';
import { verifySmtp } from '../mail/transport.ts';

const check = 'mail';

/** Signs in at the mail server, where there is one. */
export async function examineMail(mail: Config['mail']): Promise<Finding> {
  if (mail.transport === 'outbox') {
    const message = 'kept as files in <data_dir>/outbox; none is sent (mail.transport)';
    return { check, status: 'ok', message, advice: null };
  }
  try {
    await verifySmtp(mail.smtp.url);
  } catch (error) {
    const { host, port, reason } = explainMailFailure(error, mail);
    const advice = 'see that mail.smtp.url is right, and that this machine may connect there';
    return { check, status: 'failed', message: `${host}:${port}: ${reason}`, advice };
  }
  if (/@localhost>?\s*$/.test(mail.from)) {
    const advice = 'set mail.from to an address of your own, or most mails are taken for spam';
    return { check, status: 'warning', message: `the sender is ${mail.from}`, advice };
  }
  const message = 'the mail server serves this machine; to send one: bulkhead mail test <address>';
  return { check, status: 'ok', message, advice: null };
}
