// Mail that hook code sends: through the same queue as the server's own, and not more than an app may.
import type { HookMail } from '../../../hook-runner/calls.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { type MailLimits, spendMail } from '../../../storage/mail-budgets.ts';
import { check } from '../../check.ts';
import { emailText } from '../../credentials.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { object, optional, text } from '../../schema.ts';

/** What the hooks of one app may send: so many at once, and one more after each span. */
export const hookMailLimits: MailLimits = { burst: 100, everySeconds: 6 };
/** Longest subject in characters. */
const longestSubject = 500;

/** How long a mail server that is down is tried again. */
const lifeSeconds = 86_400;

const mailShape = object({
  to: emailText,
  // A line break would begin another header (RFC 5322 section 2.2).
  subject: text({
    min: 1,
    max: longestSubject,
    pattern: /^[^\p{Cc}\u2028\u2029]*$/u,
    hint: 'must be one line without control characters',
  }),
  text: text(),
  html: optional(text()),
});

/** Puts a mail into the queue. Throws `400 validation`, and `429` when the app has sent too much. */
export async function sendForHook(
  { databases, mail, now }: Pick<Deps, 'databases' | 'mail' | 'now'>,
  { schema, workspace }: AppDefinition,
  given: HookMail,
): Promise<null> {
  const { to, subject, text, html } = check(given, mailShape);
  const spending = { purpose: 'hook', email: schema, now: now(), limits: hookMailLimits } as const;
  const isAllowed = await databases.workspace(workspace.database).run((sql) => spendMail(sql, spending));
  if (!isAllowed) {
    const { burst, everySeconds } = hookMailLimits;
    const bounds = `${burst} mails at once, then one every ${everySeconds} seconds`;
    fail('too_many_requests', `the hooks of an app may send ${bounds}`);
  }
  const content = { subject, text, html };
  await mail.post({ workspace: workspace.id, to, content, lifeSeconds });
  return null;
}
