// An app's hooks in all API processes of the server: their logs and their states, merged.
import type { ApiPeers } from '../../process/peers.ts';
import type { Counters } from '../pool/counters.ts';
import type { HookLog, LogEntry } from './log.ts';
import type { HookState } from '../ports.ts';

/** The question of one process to the others. The schema identifies an app. */
export type PeerQuestion =
  | { about: 'state'; schema: string }
  /** Lines after those that are known, by process. */
  | { about: 'log'; schema: string; after: Readonly<Record<string, number>> };

/** Lines of one process; `place` is that of the last. */
export interface PeerLog {
  process: string;
  position: number;
  entries: readonly LogEntry[];
}

/** How hooks are in one process. */
export interface PeerState {
  state: Omit<HookState, 'processes' | 'files'>;
  lastKillAt: Counters['lastKillAt'];
}

/** A process asks the others for new lines as often. Milliseconds. */
const pollMs = 250;

/** The responses of the other processes, which run this program, without those that are null. */
export async function askPeers<Part>(peers: Pick<ApiPeers, 'query'>, question: object): Promise<Part[]> {
  const responses = await peers.query(JSON.stringify(question));
  return responses.flatMap((response) => {
    const part: Part | null = JSON.parse(response);
    return part ?? [];
  });
}

/** Returns the state of an app's hooks in all processes that respond. */
export async function aggregateState(
  peers: Pick<ApiPeers, 'query'>,
  schema: string,
  own: PeerState,
): Promise<Omit<HookState, 'files'>> {
  return mergeStates([own, ...await askPeers<PeerState>(peers, { about: 'state', schema })]);
}

/** One state out of several: sums where there is something to add, else the value of the process that knows it best. */
function mergeStates(parts: readonly PeerState[]): Omit<HookState, 'files'> {
  const states = parts.map(({ state }) => state);
  const sum = (name: 'runs' | 'failed_runs' | 'in_flight') =>
    states.reduce((all, state) => all + state[name], 0);
  const known = (name: 'cpu_ms' | 'rss_bytes' | 'generation') => states.flatMap((state) => state[name] ?? []);
  const sumKnown = (name: 'cpu_ms' | 'rss_bytes') =>
    known(name).length === 0 ? null : known(name).reduce((all, one) => all + one, 0);
  const killed = parts.reduce((a, b) => ((b.lastKillAt ?? 0) > (a.lastKillAt ?? 0) ? b : a));
  const { loaded, registrations, jobs } = states.find(hasLoaded) ?? killed.state;
  const every = states.flatMap((state) => state.jobs);
  const lastRunOf = (job: string) =>
    every.flatMap(({ name, last_run }) => name === job ? last_run ?? [] : []).sort().at(-1) ?? null;
  return {
    processes: parts.length,
    running: states.some(({ running }) => running),
    generation: known('generation').length === 0 ? null : Math.max(...known('generation')),
    loaded,
    errors: states.find(({ errors }) => errors.length > 0)?.errors ?? [],
    registrations,
    jobs: jobs.map((job) => ({ ...job, last_run: lastRunOf(job.name) })),
    runs: sum('runs'),
    failed_runs: sum('failed_runs'),
    last_kill: killed.state.last_kill,
    in_flight: sum('in_flight'),
    cpu_ms: sumKnown('cpu_ms'),
    rss_bytes: sumKnown('rss_bytes'),
  };
}

/** True where hooks run; `loaded` lacks files that run as they were. */
function hasLoaded({ loaded, registrations: { hooks, routes, jobs } }: PeerState['state']): boolean {
  return loaded.length + hooks + routes + jobs > 0;
}

/** The log of an app as all processes have it. */
export class AggregateLog {
  readonly #peers: Pick<ApiPeers, 'query' | 'isAlone'>;
  readonly #schema: string;
  readonly #own: HookLog;

  constructor(peers: Pick<ApiPeers, 'query' | 'isAlone'>, schema: string, own: HookLog) {
    this.#peers = peers;
    this.#schema = schema;
    this.#own = own;
  }

  /** See `HookLog`. */
  requireFollowerSlot(): void {
    this.#own.requireFollowerSlot();
  }

  /** The kept lines, oldest first. */
  async read(): Promise<LogEntry[]> {
    return sortByTime([...this.#own.entries, ...await this.#readOthers(new Map())]);
  }

  /**
   * Calls back for each line that is kept, and then for each from now on, until what is returned is called. Those of other
   * processes come within half a second.
   */
  follow(tell: (entry: LogEntry) => void): () => void {
    const places = new Map<string, number>();
    const stopOwn = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const look = async () => {
      const entries = await this.#readOthers(places);
      if (stopOwn.signal.aborted) return;
      sortByTime(entries).forEach(tell);
      timer = setTimeout(look, pollMs);
    };
    const begin = async () => {
      const kept = this.#own.entries;
      const meanwhile: LogEntry[] = [];
      let hear: (entry: LogEntry) => void = (entry) => void meanwhile.push(entry);
      const stop = this.#own.follow((entry) => hear(entry));
      stopOwn.signal.addEventListener('abort', stop, { once: true });
      if (!this.#peers.isAlone) kept.push(...await this.#readOthers(places));
      if (stopOwn.signal.aborted) return;
      sortByTime([...kept, ...meanwhile]).forEach(tell);
      hear = tell;
      if (!this.#peers.isAlone) timer = setTimeout(look, pollMs);
    };
    void begin();
    return () => {
      stopOwn.abort();
      clearTimeout(timer);
    };
  }

  /** Lines of other processes after those places, which move on. */
  async #readOthers(places: Map<string, number>): Promise<LogEntry[]> {
    if (this.#peers.isAlone) return [];
    const question = { about: 'log', schema: this.#schema, after: Object.fromEntries(places) } as const;
    const parts = await askPeers<PeerLog>(this.#peers, question);
    for (const { process, position } of parts) places.set(process, position);
    return parts.flatMap(({ entries }) => entries);
  }
}

function sortByTime(entries: LogEntry[]): LogEntry[] {
  return entries.sort((a, b) => a.ts < b.ts ? -1 : Number(a.ts > b.ts));
}
