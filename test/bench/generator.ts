// The load generator: raw keep-alive HTTP/1.1 connections, one request in flight on each. Raw, because on a machine of
// two cores a client library would cost as much as the server that it measures.
import { connect, type Socket } from 'node:net';
import type { LoadResult, Plan } from './load.ts';
import { carryOut } from './load-process.ts';

/** What all connections of a run share. */
interface Run {
  plan: Plan;
  requests: readonly Buffer[];
  next: number;
  until: number;
  latencies: number[];
}

const headEnd = Buffer.from('\r\n\r\n');

/** Reads answers off one connection; `missing` bytes of the current one have not come yet. */
class Exchange {
  readonly #run: Run;
  readonly #socket: Socket;
  #missing = 0;
  #held: Buffer | undefined;
  #sentAt = 0;
  /** Of its next request, where connections stay with a tenant. */
  #next: number;
  readonly done: Promise<void>;
  #resolve: () => void = () => undefined;

  constructor(run: Run, index: number) {
    this.#run = run;
    this.#next = index % (run.plan.tenants ?? 1);
    this.#socket = connect({ host: '127.0.0.1', port: run.plan.port, noDelay: true });
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#socket.on('error', reject);
      this.#socket.on('close', () => reject(new Error('the server closed a connection')));
      this.#socket.on('connect', () => this.#send());
      this.#socket.on('data', (chunk: Buffer) => {
        try {
          this.#read(chunk);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #send(): void {
    const run = this.#run;
    const request = run.requests[this.#turn() % run.requests.length];
    if (request === undefined) throw new Error('there is nothing to send');
    this.#sentAt = performance.now();
    this.#socket.write(request);
  }

  #turn(): number {
    const { tenants } = this.#run.plan;
    if (tenants === undefined) return this.#run.next++;
    const turn = this.#next;
    this.#next += tenants;
    return turn;
  }

  #read(chunk: Buffer): void {
    if (this.#missing > 0) this.#missing -= chunk.length;
    else {
      const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
      const end = bytes.indexOf(headEnd);
      if (end === -1) {
        this.#held = bytes;
        return;
      }
      this.#held = undefined;
      this.#missing = end + headEnd.length + bodyLength(bytes, end) - bytes.length;
    }
    if (this.#missing > 0) return;
    this.#answered();
  }

  #answered(): void {
    const now = performance.now();
    this.#run.latencies.push(now - this.#sentAt);
    if (now < this.#run.until) {
      const { pauseMilliseconds = 0 } = this.#run.plan;
      if (pauseMilliseconds === 0) this.#send();
      else setTimeout(() => this.#send(), pauseMilliseconds);
      return;
    }
    this.#socket.removeAllListeners('close');
    this.#socket.end();
    this.#resolve();
  }
}

/** The spellings of Content-Length that servers use: looking for bytes costs less than reading all headers. */
const lengthHeaders = ['content-length: ', 'Content-Length: '].map((name) => Buffer.from(`\r\n${name}`));

function bodyLength(bytes: Buffer, headLength: number): number {
  if (bytes[9] !== 0x32) throw new Error(`the server answered ${bytes.toString('utf8', 0, 1_000)}`);
  for (const header of lengthHeaders) {
    const at = bytes.indexOf(header);
    if (at !== -1 && at < headLength) {
      return parseInt(bytes.toString('latin1', at + header.length, headLength), 10);
    }
  }
  throw new Error('a response has no Content-Length');
}

async function run(plan: Plan): Promise<LoadResult> {
  const started = performance.now();
  const shared: Run = {
    plan,
    requests: plan.requests.map((request) => Buffer.from(request)),
    next: 0,
    until: started + plan.seconds * 1_000,
    latencies: [],
  };
  const exchanges = Array.from({ length: plan.connections }, (_unused, index) => new Exchange(shared, index));
  await Promise.all(exchanges.map(({ done }) => done));
  const seconds = (performance.now() - started) / 1_000;
  const sorted = Float64Array.from(shared.latencies).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { requests: sorted.length, seconds, p50: at(0.5), p99: at(0.99) };
}

carryOut(run);
