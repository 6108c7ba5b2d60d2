// Many tenants at once: a thousand workspaces of which a hundred are active, against a server with one workspace.
import { request } from './client.ts';
import { figuresOf } from './compared.ts';
import type { Figure, Findings } from './findings.ts';
import { renderRequest, startGenerator } from './load.ts';
import { countDescendants } from './proc.ts';
import { compare, type Pace, type Side } from './rounds.ts';
import { makeAppAdmin, makeEmptyWorkspace, makeWorkspace, sample, type Stage, withStage } from './stage.ts';

/** How many workspaces there are, and how many of them are asked. */
export interface Tenants {
  workspaces: number;
  active: number;
  /** Clients of each active workspace; as many ask the only one. */
  clientsEach: number;
}

/** The control database, whose connections are not the tenants'. */
const provisioner = 'bulkhead';
const recordsEach = 10;
const atOnce = 4;
const mostConnections = 100;

/**
 * Reading records of the active workspaces, against reading those of the only workspace of a server: by clients of whom
 * each has its workspace, and by clients who ask all of them in turn, so that no connection ever has two requests at once
 * but by chance.
 */
export async function benchTenants(given: Pace, tenants: Tenants): Promise<Findings> {
  const { workspaces, active, clientsEach } = tenants;
  const pace = { ...given, connections: clientsEach * active };
  return await withStage((alone) =>
    withStage(async (crowd) => {
      const single = await requestsOf(alone, 'w0');
      const requests = interleaved(await fill(crowd, tenants));
      const generator = startGenerator();
      try {
        const yardstick = sideOf('one', alone, single);
        const ours = sideOf('many', crowd, requests);
        const loyal = { ...ours, plan: { ...ours.plan, tenants: active } };
        const own = await compare(generator, { ours: loyal, yardstick }, pace);
        const turn = await compare(generator, { ours, yardstick }, pace);
        return {
          bench: 'tenants',
          title: `read records of ${active} of ${workspaces} workspaces by ${pace.connections} clients, ` +
            'against a server with one workspace and as many clients',
          sides: ['many', 'one'],
          figures: [
            ...named('each client its own', figuresOf(own, 0.8)),
            ...named('in turn', figuresOf(turn, 0.8)),
            connectionsOf(crowd),
          ],
          raw: {
            pace,
            own: [own.ours.rounds, own.yardstick.rounds],
            turn: [turn.ours.rounds, turn.yardstick.rounds],
          },
        };
      } finally {
        await generator.stop();
      }
    })
  );
}

function named(how: string, figures: readonly Figure[]): Figure[] {
  return figures.map((figure) => ({ ...figure, name: `${figure.name}, ${how}` }));
}

/** PostgreSQL's processes are named after role and database. */
function connectionsOf({ server }: Stage): Figure {
  const held = countDescendants(server.pid, ' [local] ') -
    countDescendants(server.pid, ` ${provisioner} [local] `);
  return {
    name: 'connections of tenants',
    unit: '',
    ours: { median: held, min: held, max: held },
    goal: { text: `at most ${mostConnections}`, reached: held <= mostConnections },
  };
}

function sideOf(name: string, { server }: Stage, requests: string[]): Side {
  return { name, pids: () => [server.apiPid, server.pid], plan: { port: server.port, requests } };
}

/** Makes the workspaces; answers the requests of each active one. */
async function fill(stage: Stage, { workspaces, active }: Tenants): Promise<string[][]> {
  const requests: string[][] = [];
  let next = 0;
  const make = async () => {
    for (let index = next++; index < workspaces; index = next++) {
      const id = `w${index}`;
      if (index < active) requests.push(await requestsOf(stage, id));
      else await makeEmptyWorkspace(stage, id);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, make));
  return requests;
}

/** Makes a workspace with records; answers a request for each of them, as an admin of its app. */
async function requestsOf(stage: Stage, id: string): Promise<string[]> {
  const workspace = await makeWorkspace(stage, id);
  const token = await makeAppAdmin(stage, workspace);
  const path = `${workspace}/apps/shop/collections/items/records`;
  const requests: string[] = [];
  for (let index = 0; index < recordsEach; index++) {
    const record = await request(stage.server.url + path, { method: 'POST', token, body: sample });
    requests.push(renderRequest({ method: 'GET', path: `${path}/${String(record['id'])}`, token }));
  }
  return requests;
}

/** The first of each, the second of each, and so on: no workspace is asked twice in a row. */
function interleaved(lists: readonly string[][]): string[] {
  return Array.from({ length: recordsEach }, (_unused, index) => lists.flatMap((list) => list[index] ?? []))
    .flat();
}
