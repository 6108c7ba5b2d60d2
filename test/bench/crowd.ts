// A crowd on the real server: streams of one collection, a tenth of which never read, while records are written. Measured,
// not asserted: `node test/bench/crowd.ts [seconds] [streams] [events a second] [bytes of text]`. The kernel holds
// up to 10 MB for a stream that is not read: only what comes after that waits in the server.
import { fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from './client.ts';
import { residentMebibytes } from './proc.ts';
import { makeWorkspace, withStage } from './stage.ts';
import { type CrowdOrder, type CrowdResponse } from './crowd-clients.ts';

const perRequest = 20;
/** V8 gives memory back to the system when nothing has happened for eight seconds and longer. */
const restMilliseconds = 20_000;
const child = new URL('./crowd-clients.ts', import.meta.url);

/** Readers and writers at once. */
interface Crowd {
  seconds: number;
  streams: number;
  rate: number;
  /** Of text in each record. */
  length: number;
}

/** The processes that the readers live in. */
class Readers {
  readonly #process = fork(child);

  ask(order: CrowdOrder): Promise<CrowdResponse> {
    this.#process.send(order);
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`the readers ended with ${code}`));
      this.#process.once('exit', onExit);
      this.#process.once('message', (response: CrowdResponse) => {
        this.#process.off('exit', onExit);
        resolve(response);
      });
    });
  }

  end(): void {
    this.#process.kill();
  }
}

interface Place {
  url: string;
  token: string;
  app: string;
}

/** Makes a collection whose records anybody may list. */
async function collectionIn({ url, token, app }: Place): Promise<void> {
  const schema = {
    id: 'crowded',
    fields: [{ name: 'n', kind: 'text' }, { name: 'at', kind: 'text' }, { name: 'text', kind: 'text' }],
  };
  await request(`${url}${app}/collections`, { method: 'POST', token, body: { schema } });
  const rule = `${url}${app}/collections/crowded/access_rules/list`;
  await request(rule, { method: 'PUT', token, body: { template: 'any' } });
}

/** Writes numbered records, `perRequest` to a batch, one batch after another at an even pace; answers how many it managed. */
async function write({ url, token, app }: Place, { seconds, rate, length }: Crowd): Promise<number> {
  const begun = performance.now();
  let written = 0;
  while (performance.now() - begun < seconds * 1_000) {
    const requests = Array.from({ length: perRequest }, (_, index) => ({
      method: 'POST',
      collection: 'crowded',
      body: {
        n: String(written + index).padStart(10, '0'),
        at: String(Date.now()),
        text: 'x'.repeat(length),
      },
    }));
    await request(`${url}${app}/batch`, { method: 'POST', token, body: { requests } });
    written += perRequest;
    const due = begun + (written / rate) * 1_000;
    await pause(Math.max(0, due - performance.now()));
  }
  return written;
}

/** Looks at the memory of a process while the work runs; `peak`: the most there was. */
async function watched<Result>(pid: number, work: () => Promise<Result>): Promise<Result & { peak: number }> {
  let peak = 0;
  const watching = setInterval(() => peak = Math.max(peak, residentMebibytes(pid)), 100);
  try {
    const result = await work();
    return { ...result, peak };
  } finally {
    clearInterval(watching);
  }
}

async function measure(crowd: Crowd): Promise<void> {
  await withStage(async (stage) => {
    const { server, master: token } = stage;
    const place = { url: server.url, token, app: `${await makeWorkspace(stage, 'bench')}/apps/shop` };
    await collectionIn(place);
    const readers = new Readers();
    const at = `${place.app}/collections/crowded/events`;
    const stalled = Math.floor(crowd.streams / 10);
    const before = residentMebibytes(server.apiPid);
    await readers.ask({ do: 'open', port: server.port, at, streams: crowd.streams, stalled });
    const open = residentMebibytes(server.apiPid);
    const { written, seen, peak } = await watched(server.apiPid, async () => {
      const written = await write(place, crowd);
      return { written, seen: await readers.ask({ do: 'finish', events: written }) };
    });
    readers.end();
    await pause(restMilliseconds);
    const rows: [string, string][] = [
      ['streams, of which never read', `${crowd.streams}, ${stalled}`],
      ['events written', `${written} (${Math.round(written / crowd.seconds)}/s)`],
      ['readers that got all of them, in order', `${seen.whole} of ${crowd.streams - stalled}`],
      ['age of an event when it was read, p50 / p99 / max', `${seen.p50} / ${seen.p99} / ${seen.max} ms`],
      ['streams that never read and were cut off', `${seen.cut} of ${stalled}`],
      [
        `memory of the API before / with idle streams / at most / ${restMilliseconds / 1_000} s after`,
        [before, open, peak, residentMebibytes(server.apiPid)]
          .map((size) => `${Math.round(size)}`).join(' / ') + ' MiB',
      ],
    ];
    for (const [what, figure] of rows) console.log(`${what}: ${figure}`);
  });
}

const [seconds = 10, streams = 1_000, rate = 1_000, length = 0] = process.argv.slice(2).map(Number);
await measure({ seconds, streams, rate, length });
