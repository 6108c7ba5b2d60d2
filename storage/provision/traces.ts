// What a copy of a workspace's database does not keep of the original: sessions, tokens, counters, the audit log, and seals.
import type { Sql } from '../connections/pool.ts';
import { clientSecretOwner, type Secrets, variableOwner } from '../secrets.ts';
import { listHookVariables } from '../app/hook-environment.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import type { GroupRoles } from './roles.ts';

/** The schema of an app in the original, and in the copy. */
export interface CopiedSchema {
  from: string;
  to: string;
}

/** Ends what was begun in the original: nobody is signed in to the copy, no mailed token works there, its log is empty. */
export async function clearTraces(sql: Sql, { auditor }: GroupRoles): Promise<void> {
  await sql.unsafe(`truncate workspace.sessions, workspace.one_time_tokens, workspace.lockouts,
      workspace.mail_budgets, workspace.oauth_states;
    set local role ${quoteIdentifier(auditor)};
    truncate workspace.audit_log, workspace.audit_queue, workspace.audit_seals, workspace.audit_checkpoints,
      workspace.audit_totals;
    update workspace.audit_head set seq = 0, hash = '';
    set local role none;`);
}

/** Seals variables of hooks and secrets of OAuth clients anew: each opens in its own place only. */
export async function resealSecrets(
  sql: Sql,
  secrets: Secrets,
  { databases, schemas }: { databases: CopiedSchema; schemas: readonly CopiedSchema[] },
): Promise<void> {
  const providers = await sql<{ provider: string; sealed: Buffer }[]>`
    select provider, client_secret_sealed as sealed from workspace.oauth_providers
    where client_secret_sealed is not null`;
  for (const { provider, sealed } of providers) {
    const value = secrets.open('oauth-client-secret', clientSecretOwner(databases.from, provider), sealed);
    const anew = secrets.seal('oauth-client-secret', clientSecretOwner(databases.to, provider), value);
    await sql`update workspace.oauth_providers set client_secret_sealed = ${anew} where provider = ${provider}`;
  }
  for (const { from, to } of schemas) {
    await sql.unsafe(`set local role ${quoteIdentifier(to)}`);
    for (const { name, sealed } of await listHookVariables(sql, to)) {
      const value = secrets.open('hook-environment', variableOwner(from, name), sealed);
      const anew = secrets.seal('hook-environment', variableOwner(to, name), value);
      await sql.unsafe(
        `update ${quoteIdentifier(to)}._hook_environment set sealed = $2 where name = $1`,
        [name, anew],
      );
    }
    await sql`set local role none`;
  }
}
