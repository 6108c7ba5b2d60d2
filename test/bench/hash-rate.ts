// How many argon2id hashes this machine makes a second with nothing around them: hash-wasm on every core.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { argon2id } from 'hash-wasm';

/** Hashes a second of all cores together, with the server's parameters. */
export async function rawHashRate(seconds: number): Promise<number> {
  const workers = Array.from(
    { length: availableParallelism() },
    () => new Worker(new URL(import.meta.url), { workerData: { seconds } }),
  );
  const rates = await Promise.all(workers.map(async (worker) => {
    const [rate] = await once(worker, 'message');
    return Number(rate);
  }));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

async function measure(seconds: number): Promise<number> {
  const hash = () =>
    argon2id({
      password: 'a long password of the bench',
      salt: randomBytes(16),
      memorySize: 19_456,
      iterations: 2,
      parallelism: 1,
      hashLength: 32,
      outputType: 'encoded',
    });
  await hash();
  const started = performance.now();
  let hashes = 0;
  while (performance.now() - started < seconds * 1_000) {
    await hash();
    hashes++;
  }
  return hashes / ((performance.now() - started) / 1_000);
}

if (!isMainThread) parentPort?.postMessage(await measure(Number(workerData.seconds)));
