// The benches of rules and filters: what a rule costs on a get, and lists that are filtered and counted.
import { login, request } from './client.ts';
import { contest, figuresOf } from './compared.ts';
import type { Findings } from './findings.ts';
import { renderRequest, startGenerator } from './load.ts';
import { compare, type Pace, type Side } from './rounds.ts';
import { type RecordStage, withRecords } from './stage.ts';

const rule = 'done = true || title != @request.auth.id';
const filter = 'done = true && price > 100';
const sqlFilter = `"done" = $1::text::boolean and "price" > $2::double precision`;
/** Reading one record through a rule that needs it, against reading it with no rule to ask. */
export async function benchRule(pace: Pace): Promise<Findings> {
  return await withRecords(async (stage) => {
    const { server, path, token, ids } = stage;
    await request(`${server.url}${path.replace(/records$/, 'access_rules/get')}`, {
      method: 'PUT',
      token,
      body: { template: 'filter', filter: rule },
    });
    const user = await endUser(stage);
    const side = (name: string, token: string): Side => ({
      name,
      pids: () => [server.apiPid, server.pid],
      plan: {
        port: server.port,
        requests: ids.map((id) => renderRequest({ method: 'GET', path: `${path}/${id}`, token })),
      },
    });
    const generator = startGenerator();
    try {
      const sides = { ours: side('with a rule', user), yardstick: side('without', token) };
      const comparison = await compare(generator, sides, pace);
      return {
        bench: 'rule',
        title: 'read one record of 10,000 through a filter rule, against reading it as an admin',
        sides: ['with a rule', 'without'],
        figures: figuresOf(comparison, 0.9),
        raw: { pace, ours: comparison.ours.rounds, yardstick: comparison.yardstick.rounds },
      };
    } finally {
      await generator.stop();
    }
  });
}

async function endUser({ server, path }: RecordStage): Promise<string> {
  const auth = `${server.url}${path.slice(0, path.indexOf('/apps/'))}/auth/users`;
  const account = { email: 'user@example.com', password: 'a password of the bench' };
  await request(`${auth}/register`, { method: 'POST', body: account });
  return await login(`${auth}/login`, account);
}

/** Listing the first 30 of 10,000 records by a filter, sorted, without a total. */
export function benchFilteredList(pace: Pace): Promise<Findings> {
  return listing(pace, { bench: 'list-filtered', counted: false, last: 1, goal: 0.65 });
}

/** The same with an exact total, against a list and a count. */
export function benchCountedList(pace: Pace): Promise<Findings> {
  return listing(pace, { bench: 'list-counted', counted: true, last: 1, goal: 2.5 });
}

/** The same on each of the first 30 pages in turn: what a page skips costs both sides as much as a part of the count. */
export function benchDeepList(pace: Pace): Promise<Findings> {
  return listing(pace, { bench: 'list-deep', counted: true, last: 30, goal: undefined });
}

/** `last`: the pages are asked for in turn, up to this one. */
interface Listing {
  bench: string;
  counted: boolean;
  last: number;
  goal: number | undefined;
}

async function listing(pace: Pace, { bench, counted, last, goal }: Listing): Promise<Findings> {
  return await withRecords((stage) => {
    const pages = Array.from({ length: last }, (_unused, index) => index + 1);
    const { path, token } = stage;
    const query = `per_page=30&sort=-due&filter=${encodeURIComponent(filter)}${
      counted ? '' : '&skip_total=true'
    }`;
    const table = { ...stage.table, filter: { sql: sqlFilter, params: ['true', 100] } };
    return contest(bench, { ...stage, table }, pace, {
      title: `list 30 of 10,000 records (${
        last === 1 ? 'the first page' : `pages 1 to ${last}`
      }), filtered and sorted, ${
        counted ? 'with' : 'without'
      } a total, against a bare h3 + postgres.js handler`,
      ours: pages.map((page) =>
        renderRequest({ method: 'GET', path: `${path}?${query}&page=${page}`, token })
      ),
      yardstick: pages.map((page) =>
        renderRequest({ method: 'GET', path: `/${counted ? 'counted' : 'filtered'}?page=${page}` })
      ),
      goal,
    });
  });
}
