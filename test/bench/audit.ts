// The audit log at a size that takes years: pages near and far, with and without a filter, and all of it as JSON Lines.
import { onControl } from './control.ts';
import type { Figure, Findings } from './findings.ts';
import { residentMebibytes } from './proc.ts';
import { type Stage, withStage } from './stage.ts';
import { type Spread, spread } from './statistics.ts';

const log = '/api/system/audit';
const perPage = 30;
const goal = 20;
const mebibyte = 1_048_576;
/** Rows that are written and sealed by one statement each. */
const batch = 20_000;

/** Of a log of so many rows; each page is asked for so many times. */
export async function benchAudit({ rows, rounds }: { rows: number; rounds: number }): Promise<Findings> {
  return await withStage(async (stage) => {
    await fill(stage, rows);
    const figures: Figure[] = [];
    for (const { name, query } of questions) {
      const total = await totalOf(stage, query);
      const pages = Math.max(1, Math.ceil(total / perPage));
      for (const [where, page] of [['first', 1], ['in the middle', Math.ceil(pages / 2)]] as const) {
        const ours = await timed(stage, `${query}&page=${page}`, rounds);
        const text = `p50 at most ${goal} ms`;
        figures.push({
          name: `${where} page ${name} (${total.toLocaleString('en')} rows)`,
          unit: 'ms',
          ours,
          goal: { text, reached: ours.median <= goal },
        });
      }
    }
    return {
      bench: 'audit',
      title: `pages of ${perPage} of an audit log of ${
        rows.toLocaleString('en')
      } rows, with their totals; its export`,
      figures: [...figures, ...await exported(stage)],
    };
  });
}

const questions = [
  { name: 'of all', query: '' },
  { name: 'of a broad action', query: '&action=login' },
  { name: 'of every action', query: '&action=_' },
  { name: 'of a narrow action', query: '&action=policy' },
  { name: 'of an actor', query: '&actor=user7@example.com' },
  { name: 'of an actor and a broad action', query: '&actor=user7@example.com&action=login' },
];

/**
 * Three in four entries are logins; the rest are forty kinds of acts. No vacuum has passed over them when the pages are
 * asked for: nothing is known to be visible, and the planner has no statistics.
 */
async function fill({ server }: Stage, rows: number): Promise<void> {
  await onControl(server.dataDir, async (sql) => {
    for (let from = 0; from < rows; from += batch) {
      await sql.begin(async (sql) => {
        await sql`
          insert into control.audit_log (id, ts, actor, action, target, details, workspace, request_id, ip, user_agent)
          select uuidv7(), now(), 'user' || n % 100 || '@example.com',
            case when n % 20 < 12 then 'login_success' when n % 20 < 15 then 'login_failed'
              else (array['policy', 'admin', 'workspace', 'hook', 'user', 'rule', 'collection', 'provider'])[n % 8 + 1]
                || (array['_set', '_create', '_update', '_delete', '_revoke'])[n % 5 + 1] end,
            'target ' || n, jsonb_build_object('from', n, 'to', n + 1), null, gen_random_uuid()::text, '203.0.113.7',
            'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
          from generate_series(${from}::int, ${Math.min(from + batch, rows) - 1}::int) as n`;
        const [head] = await sql`select seq from control.audit_begin()`;
        // What is measured reads no hash.
        await sql`
          select control.audit_seal(${head?.['seq']}::bigint + 1, array_agg(id order by id),
            array_agg('\\x00'::bytea)) from control.audit_queue`;
      });
    }
  });
}

async function ask({ server, master }: Stage, query: string): Promise<Response> {
  const response = await fetch(`${server.url}${log}?${query}`, {
    headers: { Authorization: `Bearer ${master}` },
  });
  if (response.status !== 200) {
    throw new Error(`the log answered ${response.status}: ${await response.text()}`);
  }
  return response;
}

async function totalOf(stage: Stage, query: string): Promise<number> {
  const { total_items: total }: { total_items: number } = JSON.parse(await (await ask(stage, query)).text());
  return total;
}

async function timed(stage: Stage, query: string, rounds: number): Promise<Spread> {
  const milliseconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await (await ask(stage, `per_page=${perPage}${query}`)).text();
    milliseconds.push(performance.now() - began);
  }
  return spread(milliseconds);
}

/** How fast all of it comes, and what that takes of memory. */
async function exported(stage: Stage): Promise<Figure[]> {
  const { apiPid } = stage.server;
  const before = residentMebibytes(apiPid);
  let peak = before;
  let bytes = 0;
  const began = performance.now();
  const watch = setInterval(() => peak = Math.max(peak, residentMebibytes(apiPid)), 20);
  const { body } = await ask(stage, 'format=jsonl');
  for await (const chunk of body ?? []) bytes += chunk.length;
  clearInterval(watch);
  const seconds = (performance.now() - began) / 1_000;
  return [
    { name: 'export', unit: 'MiB/s', ours: spread([bytes / mebibyte / seconds]) },
    { name: 'export, size', unit: 'MiB', ours: spread([bytes / mebibyte]) },
    { name: 'memory of the export', unit: 'MiB', ours: spread([peak - before]) },
  ];
}
