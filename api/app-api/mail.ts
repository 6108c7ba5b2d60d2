// Mail that hook code sends: through the same queue as the server's own, and not more than an app and a workspace may.
import type { HookMail } from '../../hook-runner/calls.ts';
import type { AppIdentity } from '../../storage/definition.ts';
import { type MailBudget, spendMail } from '../../storage/workspace/mail-budgets.ts';
import { check } from '../contract/check.ts';
import { emailText } from '../contract/credentials.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { object, optional, text } from '../contract/schema.ts';

/** What the hooks of one app may send: so many at once, and one more after each span. */
export const hookMailLimits: MailBudget = { burst: 100, everySeconds: 6 };
/** All apps of a workspace together: apps are made and deleted at will, each with a budget of its own. */
export const workspaceMailLimits: MailBudget = { burst: 1_000, everySeconds: 0.6 };
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

/** Puts a mail into the queue. Throws `400 validation`, and `429` when the app or its workspace has sent too much. */
export async function sendForHook(
  deps: Pick<Deps, 'databases' | 'mail' | 'now'>,
  { schema, workspace }: AppIdentity,
  given: HookMail,
): Promise<null> {
  const { to, subject, text, html } = check(given, mailShape);
  const { id, database } = workspace;
  const now = deps.now();
  // In one transaction: what one of them refuses costs the other nothing.
  await deps.databases.workspace(database).transaction(async (sql) => {
    const spend = (whose: string, limits: MailBudget) =>
      spendMail(sql, { purpose: 'hook', email: whose, now, limits });
    if (!await spend(schema, hookMailLimits)) refuse('an app', hookMailLimits);
    if (!await spend(database, workspaceMailLimits)) refuse('a workspace', workspaceMailLimits);
  });
  const content = { subject, text, html };
  await deps.mail.enqueue({ workspace: id, to, content, lifeSeconds });
  return null;
}

function refuse(whose: string, { burst, everySeconds }: MailBudget): never {
  const bounds = `${burst} mails at once, then ${60 / everySeconds} a minute`;
  fail('too_many_requests', `the hooks of ${whose} may send ${bounds}`);
}
