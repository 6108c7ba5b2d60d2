// `bulkhead mail test <address>`: sends a mail with the settings of this machine, and says what became of it.
import type { MailTestResult, MailTestStart } from '../doctor/protocol.ts';
import type { Config } from '../protocol.ts';
import { CommandFailed } from '../remote/failure.ts';
import { printable, printJson, printLine } from '../remote/print.ts';
import { runProgram } from './beside-server.ts';

/** Sends it. Throws `CommandFailed` when the mail server does not take it. */
export async function testMail({ mail }: Config, to: string, json: boolean): Promise<void> {
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(to)) throw new CommandFailed('refused', `${to} is no address`);
  if (mail.transport === 'outbox') {
    throw new CommandFailed(
      'refused',
      'mail.transport is outbox, so no mail leaves this server: set it to smtp, and mail.smtp.url',
    );
  }
  const results: MailTestResult[] = [];
  await runProgram<MailTestStart, MailTestResult>(
    'mail/send-test',
    { mail, to },
    (each) => results.push(each),
  );
  for (const result of results) show(result, { to, json, from: mail.from });
}

function show(
  { host, port, failure }: MailTestResult,
  { to, from, json }: { to: string; from: string; json: boolean },
): void {
  if (failure === null) {
    if (json) return printJson({ to, from, host, port });
    return printLine(`${host}:${port} has taken a mail to ${to} from ${from}; see whether it arrives.`);
  }
  const { reason, response, isFinal } = failure;
  const words = response === '' ? '' : `; it says: ${printable(response)}`;
  throw new CommandFailed(
    isFinal ? 'refused' : 'unavailable',
    `${host}:${port}: ${reason}${words}`,
    'mail_failed',
  );
}
