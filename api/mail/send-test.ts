// The program behind `bulkhead mail test`: sends one mail as the server would, at once, and says what became of it.
import { uuidV7Source } from '../../storage/sql/ids.ts';
import type { MailTestResult, MailTestStart } from '../../supervisor/doctor/protocol.ts';
import { replaceControlCharacters } from '../logging/control-characters.ts';
import { runAsOneShot } from '../process/one-shot.ts';
import { explainMailFailure } from './failure.ts';
import { createTransport } from './transport.ts';

/** For the whole attempt. */
const timeoutMs = 60_000;
const maxResponseLength = 500;

const text = 'This mail was sent by "bulkhead mail test". If you read it, the server can send mail.\n';
const html = `<p>${text.trim().replaceAll('"', '&quot;')}</p>\n`;

async function sendTest(
  { mail, to }: MailTestStart,
  report: (result: MailTestResult) => void,
): Promise<void> {
  const { hostname = '', port = '', protocol = '' } = URL.parse(mail.smtp.url) ?? {};
  const place = { host: hostname, port: Number(port) || (protocol === 'smtps:' ? 465 : 587) };
  const transport = createTransport({ mail, data_dir: '' }, { attemptTimeoutMs: timeoutMs });
  try {
    const id = uuidV7Source(Date.now)();
    await transport.send({
      id,
      workspace: '',
      to,
      date: new Date(),
      subject: 'Test of Bulkhead',
      text,
      html,
    });
    report({ ...place, failure: null });
  } catch (error) {
    const response = error instanceof Error && 'response' in error ? String(error.response) : '';
    const { reason } = explainMailFailure(error, mail);
    report({
      ...place,
      failure: {
        reason,
        response: replaceControlCharacters(response, () => ' ').slice(0, maxResponseLength),
        isFinal: response.startsWith('5'),
      },
    });
  } finally {
    transport.close();
  }
}

runAsOneShot(sendTest);
