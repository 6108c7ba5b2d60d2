// Fan-out: how many deliveries a second one process makes, beside bare socket writes in the same run, and how late they
// are. Clients check each event's place: one out of order ends the run.
import { type ChildProcess, fork } from 'node:child_process';
import {
  type ApiResponse,
  frameLength,
  type Mode,
  type Order,
  type Pace,
} from '../api/realtime/delivery/fan-out-processes.ts';
import type { Figure, Findings } from './findings.ts';
import { type Spread, spread } from './statistics.ts';

const child = new URL('../api/realtime/delivery/fan-out-processes.ts', import.meta.url);

function ask(child: ChildProcess, order: Order): Promise<ApiResponse> {
  child.send(order);
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${order.do}: the child ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (response: ApiResponse) => {
      child.off('exit', onExit);
      resolve(response);
    });
  });
}

/** One server with its clients. */
class Pair {
  readonly #server = fork(child, ['server'], { execArgv: ['--expose-gc'] });
  readonly #clients = fork(child, ['clients']);
  readonly #reading: number;
  readonly #streams: number;
  /** Growth of the server's memory for each stream that was opened, in KiB. */
  streamKibibytes = Number.NaN;

  constructor(streams: number, stalled: number) {
    this.#streams = streams;
    this.#reading = streams - stalled;
  }

  async open(mode: Mode): Promise<void> {
    const { port = 0 } = await ask(this.#server, { do: 'serve', mode });
    const before = await ask(this.#server, { do: 'memory' });
    const stalled = this.#streams - this.#reading;
    await ask(this.#clients, { do: 'connect', port, streams: this.#streams, stalled });
    const after = await ask(this.#server, { do: 'memory' });
    this.streamKibibytes = ((after.rss ?? 0) - (before.rss ?? 0)) / 1_024 / this.#streams;
  }

  /** Publishes events; deliveries a second by the clock and by the server's CPU time, and ages in milliseconds. */
  async run(events: number, pace: Pace): Promise<ApiResponse> {
    const receiving = ask(this.#clients, { do: 'receive', events });
    const { start = 0, cpu = 0 } = await ask(this.#server, { do: 'publish', events, pace });
    const { end = 0, p50 = 0, p99 = 0, max = 0, disorder = 0 } = await receiving;
    if (disorder > 0) throw new Error(`${disorder} events out of order`);
    const deliveries = events * this.#reading;
    return {
      perSecond: (deliveries / (end - start)) * 1e6,
      perCpuSecond: (deliveries / cpu) * 1e6,
      p50,
      p99,
      max,
    };
  }

  close(): void {
    this.#server.kill();
    this.#clients.kill();
  }
}

/** How many streams there are, and what is to be reached with them. */
interface Goals {
  streams: number;
  /** Deliveries a second of one core. */
  perCpuSecond: number;
  /** Milliseconds from the publishing to the reading of 99 % of the deliveries, at 20,000 a second. */
  p99: number;
}

const goals: readonly Goals[] = [
  { streams: 1_000, perCpuSecond: 200_000, p99: 25 },
  { streams: 5_000, perCpuSecond: 110_000, p99: 75 },
];
const shareOfRaw = 0.7;
const mostKibibytes = 35;
/** Share of the rate that must remain: a tenth of the work goes to those who never read, and rounds vary as much. */
const undisturbed = 0.8;
const deliveries = 300_000;
const agedPerSecond = 20_000;
/** 120 events to 5,000 streams: one that something else of the machine delays makes no p99. */
const agedSeconds = 30;

/** Deliveries to 1,000 and 5,000 streams of one collection, against bare writes of the same frames. */
export async function benchFanOut({ rounds }: { rounds: number }): Promise<Findings> {
  const figures: Figure[] = [];
  for (const goal of goals) figures.push(...await measure(goal, rounds));
  return {
    bench: 'fan-out',
    title: `deliveries of frames of ${frameLength} bytes, in order, against bare socket writes`,
    sides: ['hub', 'bare writes'],
    figures,
  };
}

async function measure(goal: Goals, rounds: number): Promise<Figure[]> {
  const { streams } = goal;
  const pairs = { hub: new Pair(streams, 0), raw: new Pair(streams, 0) };
  const stalling = new Pair(streams, streams / 10);
  try {
    for (const mode of ['hub', 'raw'] as const) await warmUp(pairs[mode], mode, streams);
    await warmUp(stalling, 'hub', streams);
    const memory = only(pairs.hub.streamKibibytes);
    const figures: Figure[] = [
      { name: 'memory a stream', unit: 'KiB', ours: memory, goal: atMost(memory, mostKibibytes, 'KiB') },
    ];
    for (const pace of ['alone', 'turn', 'ten'] as const) {
      figures.push(...await ratesOf(pairs, goal, { pace, rounds }));
    }
    figures.push(...await agesOf({ all: pairs.hub, bare: pairs.raw, stalling }, goal, rounds));
    return figures.map((figure) => ({ ...figure, name: `${streams} streams: ${figure.name}` }));
  } finally {
    for (const pair of [pairs.hub, pairs.raw, stalling]) pair.close();
  }
}

async function warmUp(pair: Pair, mode: Mode, streams: number): Promise<void> {
  await pair.open(mode);
  await pair.run(deliveries / streams, 'alone');
}

/** The rates at one pace. The goals are those of events that come alone: no frame is joined with another. */
async function ratesOf(
  pairs: Record<Mode, Pair>,
  { streams, perCpuSecond }: Goals,
  { pace, rounds }: { pace: Pace; rounds: number },
): Promise<Figure[]> {
  const results: Record<Mode, ApiResponse[]> = { hub: [], raw: [] };
  for (let round = 0; round < rounds; round++) {
    for (const mode of round % 2 === 0 ? (['hub', 'raw'] as const) : (['raw', 'hub'] as const)) {
      results[mode].push(await pairs[mode].run(deliveries / streams, pace));
    }
  }
  const figure = (name: string, key: string, least: number): Figure => {
    const of = (mode: Mode) => results[mode].map((result) => result[key] ?? Number.NaN);
    const [ours, baseline] = [of('hub'), of('raw')];
    const ratio = spread(ours.map((value, index) => value / (baseline[index] ?? Number.NaN)));
    const reached = spread(ours).median >= least && ratio.median >= shareOfRaw;
    const text = `at least ${least.toLocaleString('en')}, and ${shareOfRaw} of bare writes`;
    return {
      name: `${pace}, ${name}`,
      unit: '',
      ours: spread(ours),
      baseline: spread(baseline),
      ratio,
      ...(pace === 'alone' && least > 0 ? { goal: { text, reached } } : {}),
    };
  };
  return [
    figure('deliveries/s by the clock', 'perSecond', 0),
    figure('deliveries/s of one core', 'perCpuSecond', perCpuSecond),
  ];
}

/** How late events are, and whether streams that are never read change anything for the others. */
async function agesOf(
  { all, bare, stalling }: { all: Pair; bare: Pair; stalling: Pair },
  { streams, p99 }: Goals,
  rounds: number,
): Promise<Figure[]> {
  const rates: { all: number[]; rest: number[] } = { all: [], rest: [] };
  for (let round = 0; round < rounds; round++) {
    rates.all.push((await all.run(deliveries / streams, 'alone'))['perCpuSecond'] ?? Number.NaN);
    rates.rest.push((await stalling.run(deliveries / streams, 'alone'))['perCpuSecond'] ?? Number.NaN);
  }
  const ratio = spread(rates.rest.map((rate, index) => rate / (rates.all[index] ?? Number.NaN)));
  const lasting = agedPerSecond / streams;
  const aged = await all.run(lasting * agedSeconds, lasting);
  const agedBare = await bare.run(lasting * agedSeconds, lasting);
  const agedBeside = await stalling.run(lasting * agedSeconds, lasting);
  const figures: Figure[] = [{
    name: '10 % never read, deliveries/s of one core to the rest',
    unit: '',
    ours: spread(rates.rest),
    ratio,
    goal: { text: `at least ${undisturbed} of the rate when all read`, reached: ratio.median >= undisturbed },
  }];
  for (const [name, ages] of [['all read', aged], ['10 % never read', agedBeside]] as const) {
    const of = (ages: ApiResponse, which: 'p50' | 'p99') => only(ages[which] ?? Number.NaN);
    const figure = (which: 'p50' | 'p99') => ({
      ...{ name: `20,000/s, ${name}, ${which}`, unit: 'ms' },
      ...{ ours: of(ages, which), baseline: of(agedBare, which) },
    });
    figures.push(figure('p50'), { ...figure('p99'), goal: atMost(of(ages, 'p99'), p99, 'ms') });
  }
  return figures;
}

function only(value: number): Spread {
  return { median: value, min: value, max: value };
}

function atMost(measured: Spread, most: number, unit: string): { text: string; reached: boolean } {
  return { text: `at most ${most} ${unit}`, reached: measured.median <= most };
}
