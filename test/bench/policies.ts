// How long a policy of the server takes to be set when everything below it has to be clamped.
import { request } from './client.ts';
import { onControl } from './control.ts';
import type { Findings } from './findings.ts';
import { type Stage, withStage } from './stage.ts';
import { spread } from './statistics.ts';

/** How many workspaces there are, and how often a policy is set. */
export interface PoliciesPace {
  workspaces: number;
  rounds: number;
}

const apps = 5;
const field = 'password.length';
const goal = 1_000;

/**
 * A PUT at the system that clamps what each workspace and each of five apps in it have set, and one that clamps nothing.
 * The workspaces are rows of the control database only: nobody goes near their databases.
 */
export async function benchPolicies({ workspaces, rounds }: PoliciesPace): Promise<Findings> {
  return await withStage(async (stage) => {
    await addWorkspaces(stage, workspaces);
    const clamping: number[] = [];
    const idle: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      await resetPolicies(stage);
      const tight = await put(stage, 20, 64);
      const expected = workspaces * (apps + 1);
      if (tight.cascaded !== expected) {
        throw new Error(`${tight.cascaded} of ${expected} policies were clamped`);
      }
      const same = await put(stage, 20, 64);
      // The first round is for warming up.
      if (round === 0) continue;
      clamping.push(tight.milliseconds);
      idle.push(same.milliseconds);
    }
    const ours = spread(clamping);
    return {
      bench: 'policies',
      title: `setting a policy of the server above ${workspaces} workspaces with ${apps} apps each`,
      figures: [
        {
          name: 'all of them clamped',
          unit: 'ms',
          ours,
          goal: { text: `at most ${goal} ms`, reached: ours.median <= goal },
        },
        { name: 'none clamped', unit: 'ms', ours: spread(idle) },
      ],
      raw: { clamping, idle },
    };
  });
}

async function put(
  { server, master }: Stage,
  min: number,
  max: number,
): Promise<{ milliseconds: number; cascaded: number }> {
  const started = performance.now();
  const { cascaded } = await request(`${server.url}/api/system/policies/${field}`, {
    method: 'PUT',
    token: master,
    body: { kind: 'range', min, max },
  });
  const milliseconds = performance.now() - started;
  return { milliseconds, cascaded: Array.isArray(cascaded) ? cascaded.length : 0 };
}

async function addWorkspaces({ server }: Stage, workspaces: number): Promise<void> {
  await onControl(server.dataDir, async (sql) => {
    await sql`
      insert into control.tenant_databases (name, state, version, app_version)
      select 'bench_' || n, 'assigned', 1000, 1000 from generate_series(1, ${workspaces}) n`;
    await sql`
      insert into control.workspaces (id, name, database, created_at, updated_at)
      select 'bench-' || n, 'Bench', 'bench_' || n, now(), now() from generate_series(1, ${workspaces}) n`;
  });
}

/** Every workspace and app has set bounds that lie within those of the server, and outside of those to come. */
async function resetPolicies({ server }: Stage): Promise<void> {
  await onControl(server.dataDir, async (sql) => {
    await sql`delete from control.policies`;
    await sql`
      insert into control.policies (workspace, app, field, spec, updated_at)
      select w.id, a.id, ${field}, '{"kind": "range", "min": 8, "max": 256}', now()
      from control.workspaces w, (
        select null as id union all select 'app-' || n from generate_series(1, ${apps}) n
      ) a`;
    await sql`analyze control.policies`;
  });
}
