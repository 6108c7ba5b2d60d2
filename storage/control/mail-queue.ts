// Rows of control.mail_queue: mails to be sent.
import type { Sql } from '../connections/pool.ts';

/** A mail as it is stored. */
export interface MailRow {
  /** A v7 UUID. */
  id: string;
  workspace: string;
  /** True for a mail of an app's hooks, which waits behind all of the server's own. */
  of_app: boolean;
  sealed: Buffer;
  created_at: Date;
  expires_at: Date;
}

/** A claimed mail, which its claimant sends now. The attempt is counted. */
export interface ClaimedMail extends Omit<MailRow, 'of_app'> {
  attempts: number;
}

/** The limits of the mails of a workspace that wait: of the server's own, and of its apps. */
export interface MailQueueLimits {
  mails: number;
  bytes: number;
}

/**
 * Adds a mail, due at once. Adds nothing and returns false beyond the limits; simultaneous calls do not count each other, so
 * there may be a few more. Throws `StorageError` `missing_reference` when its workspace is deleted.
 */
export async function insertMail(
  sql: Sql,
  mail: MailRow,
  { mails, bytes }: MailQueueLimits,
): Promise<boolean> {
  const { id, workspace, of_app, sealed, created_at, expires_at } = mail;
  const added = await sql`
    insert into control.mail_queue (id, workspace, sealed, next_attempt_at, expires_at, created_at, of_app)
    select ${id}, ${workspace}, ${sealed}, ${created_at}, ${expires_at}, ${created_at}, ${of_app} from (
      select count(*) as mails, coalesce(sum(octet_length(sealed)), 0) as bytes from control.mail_queue
      where of_app = ${of_app} and workspace = ${workspace}
    ) as waiting where waiting.mails < ${mails} and waiting.bytes + ${sealed.length}::int <= ${bytes}
    returning id`;
  return added.length > 0;
}

/** The circumstances of a claim. */
export interface MailClaim {
  now: Date;
  /** The latest instant that a mail may be postponed to. */
  last: Date;
  leaseEnds: Date;
  /** Ids of workspaces whose mail is being sent. */
  served: string[];
  /** Ids of workspaces whose mail must not be claimed. */
  full: string[];
  /** Ids of mails that are being sent. */
  underWay: string[];
}

/** Mails of a workspace that other claims may take at the same moment. */
const atOnce = 16;

/**
 * The next mail that is due, reserved until `leaseEnds`; undefined without one. Mails of workspaces that are being
 * `served` come after those of others, so a workspace with thousands of mails does not hold up the rest. It reads the
 * first mails of each workspace, and so takes no longer when many are due. A mail that is due after `last` was
 * postponed by a clock that has since been set back, and is due now, except for the mails `underWay`.
 */
export async function claimMail(
  sql: Sql,
  { now, last, leaseEnds, served, full, underWay }: MailClaim,
): Promise<ClaimedMail | undefined> {
  const [row] = await sql<ClaimedMail[]>`
    with recursive senders as (
      (select of_app, workspace from control.mail_queue order by of_app, workspace limit 1)
      union all
      select another.* from senders, lateral (
        select of_app, workspace from control.mail_queue as mail
        where (mail.of_app, mail.workspace) > (senders.of_app, senders.workspace)
        order by of_app, workspace limit 1
      ) as another
    )
    update control.mail_queue set attempts = attempts + 1, next_attempt_at = ${leaseEnds}
    where id = (
      select free.id from (
        select due.id from senders, lateral (
          (select id, next_attempt_at from control.mail_queue as mail
            where mail.of_app = senders.of_app and mail.workspace = senders.workspace and next_attempt_at <= ${now}
            order by next_attempt_at, id limit ${atOnce})
          union all
          (select id, next_attempt_at from control.mail_queue as mail
            where mail.of_app = senders.of_app and mail.workspace = senders.workspace and next_attempt_at > ${last}
              and id <> all(${underWay})
            order by next_attempt_at, id limit ${atOnce})
        ) as due
        where workspace <> all(${full})
        order by of_app, workspace = any(${served}), next_attempt_at, id
      ) as due, lateral (
        select id from control.mail_queue as mail where mail.id = due.id and (next_attempt_at <= ${now} or next_attempt_at > ${last})
        for update skip locked
      ) as free limit 1)
    returning id, workspace, sealed, attempts, created_at, expires_at`;
  return row;
}

/** Postpones a mail. */
export async function postponeMail(sql: Sql, id: string, until: Date): Promise<void> {
  await sql`update control.mail_queue set next_attempt_at = ${until} where id = ${id}`;
}

/** Removes a mail that was sent or given up. */
export async function removeMail(sql: Sql, id: string): Promise<void> {
  await sql`delete from control.mail_queue where id = ${id}`;
}
