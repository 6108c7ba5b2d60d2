// A workspace with an app, collections, rules, hooks and end-users, declared in one literal: the set-up of most test files.
import { randomUUID } from 'node:crypto';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../storage/connections/pool.ts';
import { expect } from 'vitest';
import {
  type ApiResponse,
  as,
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
} from './api.ts';
import { databaseOf, provisionerEndpoint } from './database.ts';
import { openForge } from './forge.ts';

/** Rules by action: a template, or the expression of a `filter`. */
export type Rules = Readonly<Record<string, string>>;

/** An end-user who is in the workspace's database. */
export interface EndUser extends Caller {
  id: string;
  email: string;
}

/** A workspace of a test file's own with an app in it, and ways to fill the app. */
export interface Scenario {
  workspace: OwnWorkspace;
  app: OwnApp;
  /** An admin of the app. */
  admin: Caller;
  /** `/api/workspaces/<ws>/apps/<id>/collections` */
  collections: string;
  /** The path of a collection's records. */
  records(collection: string): string;
  /** Makes a collection, sets its rules, and returns the path of its records. */
  define(id: string, fields: readonly object[], rules?: Rules): Promise<string>;
  setRules(collection: string, rules: Rules): Promise<void>;
  /** Sets a quota of the app, or of the level at another path. */
  setQuota(quota: string, max: number, path?: string): Promise<void>;
  /** Makes a record as the admin, and returns its id. */
  make(records: string, values: Record<string, unknown>): Promise<string>;
  /** Makes an end-user with a token. */
  user(): Promise<EndUser>;
  /** Runs statements in the workspace's database as the provisioner. */
  inDatabase<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/** What a scenario begins with. */
export interface ScenarioStart {
  /** Where the app is made; a new workspace when left out. */
  workspace?: OwnWorkspace;
  /** Fields of collections by their names, made in this order. */
  collections?: Readonly<Record<string, readonly object[]>>;
  /** Rules by collection. */
  rules?: Readonly<Record<string, Rules>>;
  /** Sources of hook files by their names; each must load without an error. */
  hooks?: Readonly<Record<string, string>>;
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
export function titlesOf(response: ApiResponse): string[] {
  return expectOk(response).items.map(({ fields }: { fields: { title: string } }) => fields.title);
}

/** Makes an app, in a workspace of its own unless one is given, with collections, rules and hooks. */
export async function scenario(start: ScenarioStart = {}): Promise<Scenario> {
  const workspace = start.workspace ?? await ownWorkspace();
  const app = await workspace.app();
  const made = scenarioIn(workspace, app);
  for (const [id, fields] of Object.entries(start.collections ?? {})) {
    await made.define(id, fields, start.rules?.[id]);
  }
  for (const [name, source] of Object.entries(start.hooks ?? {})) {
    const put = expectOk(await app.admin.put(`${app.path}/hooks/${name}`, { source }));
    expect(put.reload.errors).toEqual([]);
  }
  return made;
}

function scenarioIn(workspace: OwnWorkspace, app: OwnApp): Scenario {
  const { admin } = app;
  const collections = `${app.path}/collections`;
  const records = (id: string) => `${collections}/${id}/records`;
  const inDatabase: Scenario['inDatabase'] = async (work) => await once(await databaseOf(workspace.id), work);
  const setRules = async (collection: string, rules: Rules) => {
    for (const [action, rule] of Object.entries(rules)) {
      expectOk(await admin.put(`${collections}/${collection}/access_rules/${action}`, ruleBody(rule)));
    }
  };
  return {
    ...{ workspace, app, admin, collections, records, setRules, inDatabase },
    define: async (id, fields, rules = {}) => {
      expectOk(await admin.post(collections, { schema: { id, kind: 'base', fields } }));
      await setRules(id, rules);
      return records(id);
    },
    setQuota: async (quota, max, path = app.path) => {
      const bound = { kind: 'range', min: 0, max };
      expectOk(await workspace.admin.put(`${path}/policies/quota.${quota}`, bound));
    },
    make: async (records, values) => String(expectOk(await admin.post(records, values)).id),
    user: () => endUser(workspace, inDatabase),
  };
}

/** An end-user as a row and a signed token: registering would cost two hashes of a password. */
async function endUser(
  { id: workspace }: OwnWorkspace,
  inDatabase: Scenario['inDatabase'],
): Promise<EndUser> {
  const id = randomUUID();
  const email = `${id}@example.com`;
  await inDatabase((sql) =>
    sql`insert into workspace.users (id, email, created_at, updated_at) values (${id}, ${email}, now(), now())`
  );
  const forge = await openForge();
  return { ...as(forge.genuine({ role: 'user', workspace, sub: id })), id, email };
}

async function once<Result>(database: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const pool = new Pool(provisionerEndpoint(database), { cap: 1, permits: unlimitedPermits, now: Date.now });
  return await pool.run(work).finally(() => pool.end());
}
