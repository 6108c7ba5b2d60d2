// Rows of workspace.mail_budgets: how much mail an address may still get, and how much an app's hooks may send.
import type { Sql } from '../connections/pool.ts';
import { asciiAddress } from '../sql/email-address.ts';

/**
 * The purposes of mail on request. `hook` is for mail of hooks, whose budget has the app's schema and the workspace's
 * database in place of an address.
 */
export type MailPurpose =
  | 'verify_email'
  | 'password_reset'
  | 'password_changed'
  | 'email_change'
  | 'otp'
  | 'invite'
  | 'hook';

/** The budget of one address and purpose. */
export interface MailBudget {
  /** The number of mails that may be requested at once. */
  burst: number;
  /** The seconds after which one more may be requested. */
  everySeconds: number;
}

/**
 * Takes one mail out of the budget of an address; false when none is left. Other requests for the same address and
 * purpose wait until the transaction ends. Writes in both cases, and so takes as long.
 */
export async function spendMail(
  sql: Sql,
  { purpose, email, now, limits }: { purpose: MailPurpose; email: string; now: Date; limits: MailBudget },
): Promise<boolean> {
  const every = `${limits.everySeconds} seconds`;
  const fullestDebt = new Date(now.getTime() + (limits.burst - 1) * limits.everySeconds * 1_000);
  // A larger debt was made by a clock that has since been set back.
  const maxDebt = new Date(now.getTime() + limits.burst * limits.everySeconds * 1_000);
  const [row] = await sql<{ allowed: boolean }[]>`
    insert into workspace.mail_budgets as budget (email, purpose, full_at)
    values (${asciiAddress(email)}, ${purpose}, ${now}::timestamptz + ${every}::interval)
    on conflict (email, purpose) do update set full_at = case
      when budget.full_at <= ${fullestDebt} then greatest(budget.full_at, ${now}) + ${every}::interval
      else least(budget.full_at, ${maxDebt}) end
    returning old.full_at is null or old.full_at <= ${fullestDebt} as allowed`;
  await sql`
    delete from workspace.mail_budgets where (email, purpose) in (
      select email, purpose from workspace.mail_budgets where full_at <= ${now} order by full_at limit 20
      for update skip locked)`;
  return row?.allowed === true;
}
