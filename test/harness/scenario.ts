// An app whose collections have access rules, and end-users who meet them.
import { randomUUID } from 'node:crypto';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../storage/connections/pool.ts';
import { type Answer, as, type Caller, expectOk, type OwnWorkspace, ownWorkspace } from './api.ts';
import { databaseOf, provisionerEndpoint } from './database.ts';
import { openForge } from './forge.ts';

/** Rules by action: a template, or the expression of a `filter`. */
export type Rules = Readonly<Record<string, string>>;

/** An end-user who is in the workspace's database. */
export interface EndUser extends Caller {
  id: string;
  email: string;
}

/** The app, and ways to fill it. */
export interface RuledApp {
  workspace: OwnWorkspace;
  admin: Caller;
  /** `/api/workspaces/<ws>/apps/<id>/collections` */
  path: string;
  /** Makes a collection, sets its rules, and answers the path of its records. */
  define(id: string, fields: unknown[], rules?: Rules): Promise<string>;
  setRules(collection: string, rules: Rules): Promise<void>;
  /** Makes a record as the admin, and answers its id. */
  make(records: string, values: Record<string, unknown>): Promise<string>;
  /** Makes an end-user with a token. */
  user(): Promise<EndUser>;
  /** Runs statements in the workspace's database as the provisioner. */
  inDatabase<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

const templates = new Set(['any', 'auth', 'admin']);

/** Body of a PUT: one of the simple templates, or anything else as a filter. */
export function ruleBody(rule: string): Record<string, string> {
  return templates.has(rule) ? { template: rule } : { template: 'filter', filter: rule };
}

/** Fields that most of its collections have. */
export const title = { name: 'title', kind: 'text' };
/** An end-user, whom rules ask for. */
export const owner = { name: 'owner', kind: 'relation', target: 'users' };

/** The titles of the records of a list. */
export function titlesOf(answer: Answer): string[] {
  return expectOk(answer).items.map(({ fields }: { fields: { title: string } }) => fields.title);
}

/** Makes a workspace and an app in it. */
export async function ruledApp(): Promise<RuledApp> {
  const forge = await openForge();
  const workspace = await ownWorkspace();
  const app = await workspace.app();
  const path = `${app.path}/collections`;
  const { admin } = app;
  const database = await databaseOf(workspace.id);
  const inDatabase = <Result>(work: (sql: Sql) => Promise<Result>) => once(database, work);
  const setRules = async (collection: string, rules: Rules) => {
    for (const [action, rule] of Object.entries(rules)) {
      expectOk(await admin.put(`${path}/${collection}/access_rules/${action}`, ruleBody(rule)));
    }
  };
  return {
    workspace,
    admin,
    path,
    inDatabase,
    setRules,
    make: async (records, values) => String(expectOk(await admin.post(records, values)).id),
    define: async (id, fields, rules = {}) => {
      expectOk(await admin.post(path, { schema: { id, fields } }));
      await setRules(id, rules);
      return `${path}/${id}/records`;
    },
    user: async () => {
      const id = randomUUID();
      const email = `${id}@example.com`;
      await inDatabase((sql) =>
        sql`insert into workspace.users (id, email, created_at, updated_at) values (${id}, ${email}, now(), now())`
      );
      return { ...as(forge.genuine({ role: 'user', workspace: workspace.id, sub: id })), id, email };
    },
  };
}

async function once<Result>(database: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const pool = new Pool(provisionerEndpoint(database), { cap: 1, permits: unlimitedPermits, now: Date.now });
  return await pool.run(work).finally(() => pool.end());
}
