// 260 attempts to break out of a hook runner, behind every combination of its walls; what each comes to is pinned.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeRunnerHome, planAt } from '../supervisor/hooks/runner-desk.ts';
import { attempts } from './attempts/index.ts';
import { type Laid, layBait, leaksIn, noOthers } from './bait.ts';
import { tryBare } from './bare.ts';
import { tryHooked } from './hooked.ts';
import { type Outcome, wordsOf } from './outcome.ts';

const intro =
  `What attempts to break out of a hook runner come to. Columns: hook code at both levels of \`hooks.sandbox\`; a program
that has all that the runner takes away from hook code, at both levels; one that has all permissions of Deno besides, so
that only the system's walls are left. Names of errors, or what was got: none of it is of the machine or of another app.

`;

type Outcomes = Map<number, Outcome>;

/** Stands for the folder of the bait in what attempts gave: the table says how long that is, and the folder is anywhere. */
const anyFolder = '/tmp/bulkhead-bait-000000';

/** One row an attempt, one column a combination of walls. */
function table(columns: Record<string, Outcomes>, folder: string): string {
  const words = ({ value, ...rest }: Outcome) =>
    wordsOf(value === undefined ? rest : { value: value.replaceAll(folder, anyFolder) });
  const head = ['#', 'attempt', ...Object.keys(columns)];
  const rows = attempts.map(({ id, title }) => [
    String(id),
    title,
    ...Object.values(columns).map((outcomes) => words(outcomes.get(id) ?? { name: 'was not made' })),
  ]);
  const line = (cells: string[]) => `| ${cells.join(' | ')} |\n`;
  return [intro, line(head), line(head.map(() => '---')), ...rows.map(line)].join('');
}

function leaksOf(columns: Record<string, Outcomes>): string[] {
  return Object.entries(columns).flatMap(([walls, outcomes]) =>
    [...outcomes].flatMap(([id, outcome]) => leaksIn(JSON.stringify(outcome)).map(() => `${walls}: ${id}`))
  );
}

describe('a hook runner', () => {
  const servers: TestServer[] = [];
  let laid: Laid;
  let home: string;
  beforeAll(async () => {
    home = await makeRunnerHome();
    laid = await layBait();
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await laid.remove();
    await rm(home, { recursive: true });
  });

  /** Of a server with hooks at that level. */
  async function hooked(level: 'os' | 'deno'): Promise<Outcomes> {
    const server = await startServer({ config: { 'hooks.sandbox': level, 'rate_limit.enabled': false } });
    servers.push(server);
    expect(expectOk(await as(undefined, server.url).get('/readyz')).sandbox).toBe(level);
    return await tryHooked(server, laid.bait);
  }

  it(
    'sandbox.escape-suite: gives nothing of the machine or of another app, whichever of its walls stand',
    async () => {
      const [hookAtOs, bareAtOs, hookAtDeno, bareAtDeno, open] = await Promise.all([
        hooked('os'),
        tryBare(await planAt('os', home), { ...laid.bait, ...noOthers }),
        hooked('deno'),
        tryBare(await planAt('deno', home), { ...laid.bait, ...noOthers }),
        tryBare(await planAt('os', home), { ...laid.bait, ...noOthers }, { open: true }),
      ]);
      const columns = {
        'hook, os': hookAtOs,
        'hook, deno': hookAtDeno,
        'program, os': bareAtOs,
        'program, deno': bareAtDeno,
        'all permissions, os': open,
      };
      expect(leaksOf(columns)).toEqual([]);
      expect(await laid.touched()).toEqual([]);
      await expect(table(columns, laid.bait.DIR)).toMatchFileSnapshot('../snapshots/escapes.md');
    },
    120_000,
  );

  it('would have given it: behind hardly a wall, the same attempts reach what was laid out', async () => {
    const open = await layBait();
    // Another user, where the test is root's, and limits: all else is open.
    const plan = await planAt('deno', home);
    const outcomes = await tryBare(plan, { ...open.bait, ...noOthers }, { open: true });
    expect(leaksOf({ none: outcomes }).length).toBeGreaterThan(10);
    const reached = ['a connection', 'a local connection', 'a datagram'];
    expect(await open.touched()).toEqual(expect.arrayContaining(reached));
    await open.remove();
  }, 60_000);
});
