// The readers of `crowd.ts`, in a process of their own: each checks that it sees every event once and in order.
import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';

/** What the readers are told to do. */
export type CrowdOrder =
  | { do: 'open'; port: number; at: string; streams: number; stalled: number }
  /** Wait until every reader has seen so many events, or nothing has come for 5 s; then look who was cut off. */
  | { do: 'finish'; events: number };

/** What they have seen; times in milliseconds. */
export interface CrowdResponse {
  /** Readers that saw everything. */
  whole: number;
  p50: number;
  p99: number;
  max: number;
  /** Streams that never read, and are closed. */
  cut: number;
}

const patience = 5_000;
/** As the frames have them. */
const numberMark = Buffer.from('"n":"');
const timeMark = Buffer.from('"at":"');

/** One stream that is read: where its frames begin, and how long they are, is known from the first one. */
class Reader {
  seen = 0;
  isBroken = false;
  readonly #onAge: (milliseconds: number) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onAge: (milliseconds: number) => void) {
    this.#onAge = onAge;
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (;;) {
      const end = bytes.indexOf('\n\n', from, 'latin1');
      if (end === -1) break;
      this.#look(bytes, from, end);
      from = end + 2;
    }
    this.#rest = Buffer.from(bytes.subarray(from));
  }

  #look(bytes: Buffer, from: number, end: number): void {
    const at = bytes.indexOf(numberMark, from);
    if (at === -1 || at > end) return;
    const n = Number(bytes.toString('latin1', at + numberMark.length, at + numberMark.length + 10));
    if (n !== this.seen) this.isBroken = true;
    this.seen++;
    const time = bytes.indexOf(timeMark, at) + timeMark.length;
    // One in a hundred is enough, and leaves the time to read.
    if (n % 100 === 0) {
      this.#onAge(Math.max(1, Date.now() - Number(bytes.toString('latin1', time, time + 13))));
    }
  }
}

class Crowd {
  readonly #readers: Reader[] = [];
  readonly #stalled: Socket[] = [];
  readonly #ages = createHistogram();
  #lastCame = 0;

  async open({ port, at, streams, stalled }: Extract<CrowdOrder, { do: 'open' }>): Promise<void> {
    for (let opened = 0; opened < streams; opened += 50) {
      const some = Array.from({ length: Math.min(50, streams - opened) }, (_, index) => opened + index);
      await Promise.all(some.map((index) => this.#open(port, at, index < stalled)));
    }
  }

  async finish(events: number): Promise<CrowdResponse> {
    this.#lastCame = Date.now();
    while (this.#readers.some(({ seen }) => seen < events) && Date.now() - this.#lastCame < patience) {
      await moment();
    }
    const begun = Date.now();
    // A paused socket hears of its end only when it reads; what it had not read is of no interest by now.
    const closed = this.#stalled.map((socket) =>
      new Promise<boolean>((resolve) => {
        socket.once('close', () => resolve(true)).on('error', () => undefined).resume();
        setTimeout(() => resolve(false), patience).unref();
      })
    );
    const cut = (await Promise.all(closed)).filter((isClosed) => isClosed).length;
    if (Date.now() - begun > 10 * patience) throw new Error('the readers took too long');
    const whole = this.#readers.filter(({ seen, isBroken }) => seen === events && !isBroken).length;
    const [p50, p99] = [50, 99].map((part) => this.#ages.percentile(part));
    return { whole, p50: p50 ?? 0, p99: p99 ?? 0, max: this.#ages.max, cut };
  }

  #open(port: number, at: string, isStalled: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(
        port,
        '127.0.0.1',
        () => socket.write(`GET ${at} HTTP/1.1\r\nHost: bench\r\n\r\n`),
      );
      const reader = new Reader((age) => this.#ages.record(age));
      let head = '';
      socket.on('error', reject);
      const onHead = (chunk: Buffer) => {
        head += chunk.toString('latin1');
        if (!/^HTTP\/1\.1 200 [^]*\r\n\r\n[^]*\n\n$/.test(head)) return;
        socket.off('data', onHead);
        if (isStalled) this.#stalled.push(socket.pause());
        else {
          this.#readers.push(reader);
          socket.on('data', (bytes: Buffer) => {
            this.#lastCame = Date.now();
            reader.take(bytes);
          });
        }
        resolve();
      };
      socket.on('data', onHead);
    });
  }
}

function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

const crowd = new Crowd();
process.on('message', (order: CrowdOrder) => {
  if (order.do === 'open') void crowd.open(order).then(() => process.send?.({}));
  else void crowd.finish(order.events).then((response) => process.send?.(response));
});
// It must not outlive the run that started it.
process.on('disconnect', () => process.exit());
