// The neighbour: reads a record, lists, creates, and creates where a hook runs, at an even pace that waits for nothing.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../bench/statistics.ts';

/** What the neighbour has to do with. */
export interface VictimPlan {
  /** Path of the collection's records, with the server's address. */
  records: string;
  /** The same of a collection whose records a hook looks at first. */
  hooked: string;
  token: string;
  /** The record that is read. */
  id: string;
}

/** What one kind of request took, in milliseconds from when it was due. */
export interface Took {
  p50: number;
  p99: number;
}

/** What the neighbour saw. */
export interface Seen {
  took: Record<Kind, Took>;
  /** Statuses of refused requests, and errors of connections. */
  refused: string[];
  requests: number;
}

const kinds = ['get', 'list', 'create', 'hooked create'] as const;

/** What the neighbour does. */
export type Kind = typeof kinds[number];

/** What the attackers spend of their address is not the neighbour's. */
const ownAddress = '192.0.2.1';

/** Does each of the four so often a second, for so many seconds. */
export async function live(
  plan: VictimPlan,
  { seconds, perSecond }: { seconds: number; perSecond: number },
): Promise<Seen> {
  const times: Record<Kind, number[]> = { get: [], list: [], create: [], 'hooked create': [] };
  const refused: string[] = [];
  const under: Promise<void>[] = [];
  const began = performance.now();
  const step = 1_000 / (perSecond * kinds.length);
  const total = seconds * perSecond * kinds.length;
  for (let index = 0; index < total; index++) {
    const due = began + index * step;
    await pause(Math.max(0, due - performance.now()));
    const kind = kinds[index % kinds.length] ?? 'get';
    under.push(
      ask(plan, kind).then((status) => {
        times[kind].push(performance.now() - due);
        if (!['200', '201'].includes(status)) refused.push(`${kind}: ${status}`);
      }),
    );
  }
  await Promise.all(under);
  const took = (kind: Kind): Took => ({
    p50: percentile(times[kind], 0.5),
    p99: percentile(times[kind], 0.99),
  });
  return {
    took: {
      get: took('get'),
      list: took('list'),
      create: took('create'),
      'hooked create': took('hooked create'),
    },
    refused,
    requests: total,
  };
}

/** The status, or why there was none. */
async function ask({ records, hooked, token, id }: VictimPlan, kind: Kind): Promise<string> {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'X-Forwarded-For': ownAddress,
  };
  const create = (url: string) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ title: `made ${randomUUID()}` }) });
  const send: Record<Kind, () => Promise<Response>> = {
    get: () => fetch(`${records}/${id}`, { headers }),
    list: () => fetch(`${records}?per_page=20&sort=-created_at&skip_total=true`, { headers }),
    create: () => create(records),
    'hooked create': () => create(hooked),
  };
  try {
    const response = await send[kind]();
    await response.arrayBuffer();
    return String(response.status);
  } catch (error) {
    return String(error instanceof Error ? error.cause ?? error : error);
  }
}
