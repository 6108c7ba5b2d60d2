// Mail of hook code: through the server's own queue, within the budgets of the app and its workspace.
import type { HookMail } from '../../hook-runner/calls.ts';
import type { AppIdentity } from '../../storage/definition.ts';
import { type MailBudget, spendMail } from '../../storage/workspace/mail-budgets.ts';
import { check } from '../contract/check.ts';
import { emailText } from '../contract/credentials.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { object, optional, string } from '../contract/schema.ts';

/** The mails that the hooks of one app may send: a burst, and one more after each interval. */
export const hookMailLimits: MailBudget = { burst: 100, everySeconds: 6 };
/** The mails of all apps of a workspace together: each new app has a budget of its own. */
export const workspaceMailLimits: MailBudget = { burst: 1_000, everySeconds: 0.6 };
/** The longest subject in characters. */
const maxSubjectLength = 500;

/** The time for which the server tries to deliver a mail. */
const lifeSeconds = 86_400;

const mailSchema = object({
  to: emailText,
  // A line break would begin another header (RFC 5322 section 2.2).
  subject: string({
    min: 1,
    max: maxSubjectLength,
    pattern: /^[^\p{Cc}\u2028\u2029]*$/u,
    hint: 'must be one line without control characters',
  }),
  text: string(),
  html: optional(string()),
});

/** Enqueues a mail. Throws `400 validation`, and `429` when the app or its workspace has sent too many. */
export async function sendForHook(
  deps: Pick<Deps, 'databases' | 'mail' | 'spentShares' | 'now'>,
  { schema, workspace }: AppIdentity,
  mail: HookMail,
): Promise<null> {
  const { to, subject, text, html } = check(mail, mailSchema);
  const { id, database } = workspace;
  const now = deps.now();
  const refuse = (spender: string, { burst, everySeconds }: MailBudget): never => {
    deps.spentShares.note({ share: 'mail of hooks', workspace: id });
    const bounds = `${burst} mails at once, then ${60 / everySeconds} a minute`;
    fail('too_many_requests', `the hooks of ${spender} may send ${bounds}`);
  };
  // In one transaction, so that what one budget refuses costs the other nothing.
  await deps.databases.workspace(database).transaction(async (sql) => {
    const spend = (key: string, limits: MailBudget) =>
      spendMail(sql, { purpose: 'hook', email: key, now, limits });
    if (!await spend(schema, hookMailLimits)) refuse('an app', hookMailLimits);
    if (!await spend(database, workspaceMailLimits)) refuse('a workspace', workspaceMailLimits);
  });
  const content = { subject, text, html };
  await deps.mail.enqueue({ workspace: id, to, content, lifeSeconds });
  return null;
}
