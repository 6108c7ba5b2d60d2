// The template database that workspace databases are cloned from.
import { fingerprint, migrate } from '../boot/migrate.ts';
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';
import { ownSchema, type Provisioning } from './cluster.ts';

/**
 * Makes the template, also again when other migrations made it or it is incomplete: only a complete one refuses
 * connections and has their fingerprint.
 */
export async function ensureTemplate(
  source: Pick<Provisioning, 'databases' | 'names' | 'migrations'>,
): Promise<void> {
  const { databases, names, migrations } = source;
  const wanted = fingerprint(migrations.workspace, names.groups);
  await databases.onOwnConnection(async (sql) => {
    await sql`select pg_advisory_lock(hashtextextended('bulkhead template', 0))`;
    if (await templateFingerprint(sql, names.template) === wanted) return;
    const template = quoteIdentifier(names.template);
    await sql.unsafe(`drop database if exists ${template} with (force)`);
    await sql.unsafe(`create database ${template} template template0 encoding 'UTF8' strategy wal_log`);
    await sql.unsafe(`revoke all on database ${template} from public`);
    await migrate(databases.provisioner(names.template), ownSchema(source, 'workspace'));
    await databases.closePools(names.template);
    await sql.unsafe(
      `comment on database ${template} is ${quoteLiteral(wanted)};
       alter database ${template} allow_connections false;`,
    );
  });
}

async function templateFingerprint(sql: Sql, template: string): Promise<string | null> {
  const [row] = await sql<{ fingerprint: string | null }[]>`
    select shobj_description(oid, 'pg_database') as fingerprint
    from pg_database where datname = ${template} and not datallowconn`;
  return row?.fingerprint ?? null;
}
