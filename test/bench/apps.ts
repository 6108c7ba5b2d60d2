// How long others wait for an app while one workspace has many: PostgreSQL walks through all roles to make one more.
import { request } from './client.ts';
import { untilRested } from './control.ts';
import type { Figure, Findings } from './findings.ts';
import { makeEmptyWorkspace, type Stage, withStage } from './stage.ts';
import { spread } from './statistics.ts';

/** How many apps the one workspace has, step by step, and how often others make one at each step. */
export interface AppsPace {
  steps: readonly number[];
  rounds: number;
}

/** Milliseconds of `POST …/apps` in a workspace of few apps, one at a time, beside a workspace of ever more. */
export async function benchApps({ steps, rounds }: AppsPace): Promise<Findings> {
  return await withStage(async (stage) => {
    await makeEmptyWorkspace(stage, 'many');
    await makeEmptyWorkspace(stage, 'few');
    await request(`${stage.server.url}/api/system/policies/quota.apps`, {
      method: 'PUT',
      token: stage.master,
      body: { kind: 'range', min: 0, max: 100_000 },
    });
    const figures: Figure[] = [];
    let made = 0;
    for (const apps of steps) {
      for (; made < apps; made++) await makeApp(stage, 'many');
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) {
        await untilRested(stage.server.dataDir);
        times.push(await makeApp(stage, 'few'));
      }
      figures.push({ name: `beside ${apps} apps`, unit: 'ms', ours: spread(times) });
    }
    return { bench: 'apps', title: 'making an app, while another workspace has many', figures, raw: figures };
  });
}

async function makeApp({ server, master }: Stage, workspace: string): Promise<number> {
  const began = performance.now();
  const url = `${server.url}/api/workspaces/${workspace}/apps`;
  await request(url, { method: 'POST', token: master, body: { name: 'One more' } });
  return performance.now() - began;
}
