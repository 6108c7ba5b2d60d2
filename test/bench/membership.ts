// The bench of a rule about membership: a list of issues of the caller's projects, against a list of the caller's own.
import { ownerRole } from '../../storage/sql/ids.ts';
import { login, request } from './client.ts';
import { figuresOf } from './compared.ts';
import { locateApp, onDatabase, onEndpoint } from './control.ts';
import type { Findings } from './findings.ts';
import { renderRequest, startGenerator } from './load.ts';
import { compare, type Pace, type Side } from './rounds.ts';
import { makeWorkspace, type Stage, withStage } from './stage.ts';

/** Everybody is a member of ten projects, and the owner of a hundred issues. */
const size = { users: 1_000, projects: 1_000, memberships: 10_000, issues: 100_000 };

/** Users that have tokens. */
const callers = 20;

const password = 'a password of the bench';

const rules = {
  issues: 'project.memberships_via_project(user = @request.auth.id)',
  owned: 'owner = @request.auth.id',
};

/** Listing 30 of 100,000 issues under each of two rules. */
export async function benchMembership(pace: Pace): Promise<Findings> {
  return await withStage(async (stage) => {
    const workspace = await makeWorkspace(stage, 'bench');
    const collections = `${workspace}/apps/shop/collections`;
    await define(stage, collections);
    const { tokens, ids } = await makeUsers(stage, workspace);
    await fill(stage, ids);
    const { server } = stage;
    const side = (name: string, collection: keyof typeof rules): Side => ({
      name,
      pids: () => [server.apiPid, server.pid],
      plan: {
        port: server.port,
        requests: tokens.map((token) =>
          renderRequest({
            method: 'GET',
            path: `${collections}/${collection}/records?per_page=30&skip_total=true`,
            token,
          })
        ),
      },
    });
    const generator = startGenerator();
    try {
      const sides = { ours: side('members', 'issues'), yardstick: side('owners', 'owned') };
      const comparison = await compare(generator, sides, pace);
      return {
        bench: 'rule-membership',
        title:
          'list 30 of 100,000 records that members of their projects may see, against records that their owners may see',
        sides: ['members', 'owners'],
        figures: figuresOf(comparison, 0.5),
        raw: { pace, ours: comparison.ours.rounds, yardstick: comparison.yardstick.rounds },
      };
    } finally {
      await generator.stop();
    }
  });
}

async function define({ server, master }: Stage, collections: string): Promise<void> {
  const relation = (name: string, target: string) => ({ name, kind: 'relation', target });
  const title = { name: 'title', kind: 'text' };
  const issue = [title, relation('project', 'projects'), relation('owner', 'users')];
  const schemas = [
    { id: 'projects', kind: 'base', fields: [title] },
    { id: 'memberships', kind: 'base', fields: [relation('project', 'projects'), relation('user', 'users')] },
    { id: 'issues', kind: 'base', fields: issue },
    { id: 'owned', kind: 'base', fields: issue },
  ];
  for (const schema of schemas) {
    await request(server.url + collections, { method: 'POST', token: master, body: { schema } });
  }
  for (const [collection, filter] of Object.entries(rules)) {
    await request(`${server.url}${collections}/${collection}/access_rules/list`, {
      method: 'PUT',
      token: master,
      body: { template: 'filter', filter },
    });
  }
}

/** Registers those who ask, adds the others, and returns tokens. */
async function makeUsers(
  { server }: Stage,
  workspace: string,
): Promise<{ tokens: string[]; ids: string[] }> {
  const auth = `${server.url}${workspace}/auth/users`;
  const tokens: string[] = [];
  let ids: string[] = [];
  for (let n = 0; n < callers; n++) {
    const account = { email: `user-${n}@example.com`, password };
    await request(`${auth}/register`, { method: 'POST', body: account });
    tokens.push(await login(`${auth}/login`, account));
  }
  const { database } = await locateApp(server.dataDir, 'bench', 'shop');
  await onDatabase(server.dataDir, database, async (sql) => {
    await sql`
      insert into workspace.users (id, email, created_at, updated_at)
      select uuidv7(), 'other-' || n || '@example.com', now(), now()
      from generate_series(1, ${size.users - callers}) n`;
    const rows = await sql<{ id: string }[]>`select id from workspace.users order by md5(id::text)`;
    ids = rows.map(({ id }) => id);
  });
  return { tokens, ids };
}

/** Fills the tables. Members and owners are spread evenly, and in no order. */
async function fill({ server }: Stage, ids: readonly string[]): Promise<void> {
  const app = await locateApp(server.dataDir, 'bench', 'shop', ownerRole);
  await onEndpoint(app, async (sql) => {
    const table = (name: string) => sql(`${app.schema}.${name}`);
    const { users, projects, memberships, issues } = size;
    await sql`
      insert into ${table('projects')} (id, title, created_at, updated_at)
      select uuidv7(), 'Project ' || n, now(), now() from generate_series(1, ${projects}) n`;
    const found = await sql<{ id: string }[]>`select id from ${table('projects')}`;
    const project = (n: number) => found[n % projects]?.id ?? '';
    const user = (n: number) => ids[n % users] ?? '';
    for (const numbers of parts(memberships)) {
      const [ofProjects, ofUsers] = [
        numbers.map(project),
        numbers.map((n) => user(Math.floor(n / projects) * 101 + n * 7)),
      ];
      await sql`
        insert into ${table('memberships')} (id, project, "user", created_at, updated_at)
        select uuidv7(), p, u, now(), now()
        from unnest(${ofProjects}::text[]::uuid[], ${ofUsers}::text[]::uuid[]) as made(p, u)`;
    }
    for (const numbers of parts(issues)) {
      const [ofProjects, ofUsers] = [
        numbers.map((n) => project(n * 7_919)),
        numbers.map((n) => user(n * 10_473)),
      ];
      for (const name of ['issues', 'owned']) {
        await sql`
          insert into ${table(name)} (id, title, project, owner, created_at, updated_at)
          select uuidv7(), 'An issue', p, u, now(), now()
          from unnest(${ofProjects}::text[]::uuid[], ${ofUsers}::text[]::uuid[]) as made(p, u)`;
      }
    }
    for (const name of ['projects', 'memberships', 'issues', 'owned']) await sql`analyze ${table(name)}`;
  });
}

/** Numbers from 0, in parts that one statement inserts. */
function parts(count: number): number[][] {
  const size = 5_000;
  return Array.from(
    { length: count / size },
    (_part, part) => Array.from({ length: size }, (_number, index) => part * size + index),
  );
}
