// Explains why a mail was not sent: where it was to go, and the reason, in words that hold nothing of the mail.
import { errorCode } from '../../storage/sql/error-code.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { replaceControlCharacters } from '../logging/control-characters.ts';
import { UnreadableTemplate } from './templates.ts';

/** The explanation of a failed attempt, for the log. */
export interface MailFailure {
  /** The code of nodemailer or of the system, and that of the response. */
  error: string;
  /** The mail server, when it is one that failed. */
  host: string | undefined;
  port: number | undefined;
  reason: string;
}

/** What the mail server refused, by the SMTP command. */
const refusals: Readonly<Record<string, string>> = {
  AUTH: 'the mail server refuses the user name or password in mail.smtp.url',
  MAIL: 'the mail server refuses the sender, mail.from',
  RCPT: 'the mail server refuses the recipient',
  DATA: 'the mail server refuses the mail',
};
const refusesConnection = 'the mail server refuses to serve this client';

/** The commands that are about one mail. An error of any other may be one that the operator can fix. */
const mailCommands: readonly unknown[] = ['RCPT TO', 'DATA'];
const maxReasonLength = 300;

/** True for a permanent error, which no retry changes: https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1 */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'responseCode' in error && Number(error.responseCode) >= 500 &&
    'command' in error && mailCommands.includes(error.command);
}

/** Explains an error of a transport or a template. */
export function explainMailFailure(error: unknown, { transport, smtp }: Config['mail']): MailFailure {
  if (error instanceof UnreadableTemplate || transport === 'outbox') {
    return { error: codeOf(error), host: undefined, port: undefined, reason: ownWords(error) };
  }
  const { protocol = '', hostname = '', port = '' } = URL.parse(smtp.url) ?? {};
  // The defaults are those of nodemailer.
  const usual = protocol === 'smtps:' ? 465 : 587;
  return { ...explainSmtpError(error), host: hostname, port: Number(port) || usual };
}

function explainSmtpError(error: unknown): Pick<MailFailure, 'error' | 'reason'> {
  if (!(error instanceof Error)) return { error: codeOf(error), reason: ownWords(error) };
  const response = 'response' in error ? String(error.response) : undefined;
  if (error.name === 'AbortError') return { error: codeOf(error), reason: 'the attempt took too long' };
  if (response === undefined) return { error: codeOf(error), reason: ownWords(error) };
  if (!('responseCode' in error)) {
    return { error: codeOf(error), reason: 'what responds there speaks no SMTP' };
  }
  const command = 'command' in error ? String(error.command) : '';
  return { error: `${codeOf(error)} ${String(error.responseCode)}`, reason: refusal(command, response) };
}

function codeOf(error: unknown): string {
  return errorCode(error) || (error instanceof Error ? error.name : 'unknown');
}

/** The text of an error of Node or nodemailer. The latter puts addresses into quotation marks. */
function ownWords(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const unquoted = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"');
  return replaceControlCharacters(unquoted, () => ' ').trim().slice(0, maxReasonLength);
}

/** The codes of a response, in words. Its own text would carry the address into the log. */
function refusal(command: string, response: string): string {
  const what = refusals[command.split(' ')[0] ?? ''] ?? refusesConnection;
  // The first one is basic, the second one enhanced: https://www.rfc-editor.org/rfc/rfc3463#section-2
  const [codes = ''] = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3}\b)?/.exec(response) ?? [];
  return `${what}${codes.startsWith('4') ? ' for now' : ''} (${codes.replace('-', ' ')})`;
}
