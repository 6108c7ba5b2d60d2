// How long a new tenant waits: from the request for a workspace to the first record written in it; and a deletion.
import { request } from './client.ts';
import { untilRested } from './control.ts';
import type { Figure, Findings } from './findings.ts';
import { makeEmptyWorkspace, makeWorkspace, sample, type Stage, withStage } from './stage.ts';
import { spread } from './statistics.ts';

/** How many workspaces of each sort are measured. */
export interface WorkspacesPace {
  workspaces: number;
}

/** Milliseconds. */
interface Run {
  untilRecord: number;
  deletion: number;
  /** What each step took of `untilRecord`. */
  steps: Readonly<Record<string, number>>;
}

/** The server keeps three; a burst of as many workspaces leaves none. */
const spares = 3;

/** Workspaces made when the server has spares ready, and right after a burst that took them all. */
export async function benchWorkspaces({ workspaces }: WorkspacesPace): Promise<Findings> {
  return await withStage(async (stage) => {
    const withSpares: Run[] = [];
    const without: Run[] = [];
    await liveOnce(stage, 'first');
    for (let index = 0; index < workspaces; index++) {
      await untilRested(stage.server.dataDir);
      withSpares.push(await liveOnce(stage, `ready-${index}`));
      await untilRested(stage.server.dataDir);
      const burst = Array.from({ length: spares }, (_unused, one) => `burst-${index}-${one}`);
      await Promise.all(burst.map((id) => makeEmptyWorkspace(stage, id)));
      without.push(await liveOnce(stage, `unready-${index}`));
      for (const id of burst) await remove(stage, id);
    }
    return {
      bench: 'workspaces',
      title: 'from the request for a workspace to the first record in it, and its deletion',
      figures: figuresOf(withSpares, without),
      raw: { withSpares, without },
    };
  });
}

function figuresOf(withSpares: readonly Run[], without: readonly Run[]): Figure[] {
  const figure = (name: string, values: readonly number[], goal: number): Figure => {
    const ours = spread(values);
    const reached = ours.median <= goal;
    return { name, unit: 'ms', ours, goal: { text: `p50 at most ${goal} ms`, reached } };
  };
  const steps = Object.keys(withSpares[0]?.steps ?? {}).map((step): Figure => ({
    name: `  of it the ${step}`,
    unit: 'ms',
    ours: spread(withSpares.map((run) => run.steps[step] ?? Number.NaN)),
  }));
  return [
    figure('create, spares ready', withSpares.map(({ untilRecord }) => untilRecord), 50),
    ...steps,
    figure('create, no spares', without.map(({ untilRecord }) => untilRecord), 250),
    figure('delete, to the response', [...withSpares, ...without].map(({ deletion }) => deletion), 50),
  ];
}

async function liveOnce(stage: Stage, id: string): Promise<Run> {
  const started = performance.now();
  const steps: Record<string, number> = {};
  let before = started;
  const lap = (step: string) => {
    const now = performance.now();
    steps[step] = now - before;
    before = now;
  };
  const workspace = await makeWorkspace(stage, id, lap);
  await request(`${stage.server.url}${workspace}/apps/shop/collections/items/records`, {
    method: 'POST',
    token: stage.master,
    body: sample,
  });
  lap('record');
  const written = before;
  await remove(stage, id);
  return { untilRecord: written - started, deletion: performance.now() - written, steps };
}

async function remove({ server, master }: Stage, id: string): Promise<void> {
  await request(`${server.url}/api/workspaces/${id}`, { method: 'DELETE', token: master });
}
