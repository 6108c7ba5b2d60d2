// How many argon2id hashes this machine makes a second with nothing around them, on every core.
import { argon2Sync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { argon2id } from 'hash-wasm';

/** Who makes them. */
export type HashMaker = 'hash-wasm' | 'node:crypto';

/** Hashes a second of all cores together, with the server's parameters. */
export async function rawHashRate(maker: HashMaker, seconds: number): Promise<number> {
  const workers = Array.from(
    { length: availableParallelism() },
    () => new Worker(new URL(import.meta.url), { workerData: { maker, seconds } }),
  );
  const rates = await Promise.all(workers.map(async (worker) => {
    const [rate] = await once(worker, 'message');
    return Number(rate);
  }));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

const makers: Record<HashMaker, () => unknown> = {
  'hash-wasm': () =>
    argon2id({
      password: 'a long password of the bench',
      salt: randomBytes(16),
      memorySize: 19_456,
      iterations: 2,
      parallelism: 1,
      hashLength: 32,
      outputType: 'encoded',
    }),
  'node:crypto': () =>
    argon2Sync('argon2id', {
      message: 'a long password of the bench',
      nonce: randomBytes(16),
      memory: 19_456,
      passes: 2,
      parallelism: 1,
      tagLength: 32,
    }),
};

async function measure(hash: () => unknown, seconds: number): Promise<number> {
  await hash();
  const started = performance.now();
  let hashes = 0;
  while (performance.now() - started < seconds * 1_000) {
    await hash();
    hashes++;
  }
  return hashes / ((performance.now() - started) / 1_000);
}

if (!isMainThread) {
  const { maker, seconds }: { maker: HashMaker; seconds: number } = workerData;
  parentPort?.postMessage(await measure(makers[maker], seconds));
}
