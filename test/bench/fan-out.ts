// Fan-out: how many deliveries a second one process makes, beside bare socket writes in the same run, and how late they
// are: `node test/bench/fan-out.ts [rounds]`.
import { type ChildProcess, fork } from 'node:child_process';
import { type Answer, frameLength, type Mode, type Order, type Pace } from '../realtime/fan-out-processes.ts';
import { spread } from './statistics.ts';

const child = new URL('../realtime/fan-out-processes.ts', import.meta.url);

function ask(child: ChildProcess, order: Order): Promise<Answer> {
  child.send(order);
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${order.do}: the child ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (answer: Answer) => {
      child.off('exit', onExit);
      resolve(answer);
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
  async run(events: number, pace: Pace): Promise<Answer> {
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

const thousands = (value: number) => `${Math.round(value / 1_000)}k`;
const range = (values: readonly number[], show: (value: number) => string) => {
  const { median, min, max } = spread(values);
  return `${show(median)} (${show(min)}–${show(max)})`;
};

async function measure(streams: number, rounds: number): Promise<void> {
  const deliveries = 300_000;
  const pairs = { hub: new Pair(streams, 0), raw: new Pair(streams, 0) };
  for (const mode of ['hub', 'raw'] as const) {
    await pairs[mode].open(mode);
    await pairs[mode].run(deliveries / streams, 'alone');
  }
  console.log(
    `\n${streams} streams, frames of ${frameLength} bytes, ${
      pairs.hub.streamKibibytes.toFixed(1)
    } KiB a stream (raw ${pairs.raw.streamKibibytes.toFixed(1)})`,
  );
  for (const pace of ['alone', 'turn', 'ten'] as const) {
    const results: Record<Mode, Answer[]> = { hub: [], raw: [] };
    for (let round = 0; round < rounds; round++) {
      for (const mode of round % 2 === 0 ? (['hub', 'raw'] as const) : (['raw', 'hub'] as const)) {
        results[mode].push(await pairs[mode].run(deliveries / streams, pace));
      }
    }
    for (
      const [key, name] of [['perSecond', 'deliveries/s'], ['perCpuSecond', 'deliveries/CPU s']] as const
    ) {
      const of = (mode: Mode) => results[mode].map((result) => result[key] ?? 0);
      const shares = of('hub').map((value, index) => (100 * value) / (of('raw')[index] ?? 0));
      console.log(
        `  ${pace.padEnd(5)} ${name.padEnd(16)} hub ${range(of('hub'), thousands)}, raw ${
          range(of('raw'), thousands)
        }, share ${range(shares, (value) => `${value.toFixed(0)} %`)}`,
      );
    }
  }
  await age('all read', pairs.hub, streams);
  for (const pair of Object.values(pairs)) pair.close();
  const stalling = new Pair(streams, streams / 10);
  await stalling.open('hub');
  await stalling.run(deliveries / streams, 'alone');
  const { perCpuSecond = 0 } = await stalling.run(deliveries / streams, 'alone');
  console.log(`  10 % never read: ${thousands(perCpuSecond)} deliveries/CPU s to the rest`);
  await age('10 % never read', stalling, streams);
  stalling.close();
}

/** Ages at 20,000 deliveries a second. */
async function age(name: string, pair: Pair, streams: number): Promise<void> {
  const perSecond = 20_000 / streams;
  const { p50 = 0, p99 = 0, max = 0 } = await pair.run(perSecond * 10, perSecond);
  console.log(
    `  20,000/s, ${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms`,
  );
}

for (const streams of [1_000, 5_000]) await measure(streams, Number(process.argv[2] ?? 5));
