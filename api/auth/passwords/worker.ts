// A thread that does nothing but argon2id (RFC 9106): a hash takes a core for 50 ms, which no event loop may lose.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';
import { Argon2Memory } from './argon2-memory.ts';
import type { PasswordJob, PasswordResult } from './threads.ts';

// On Linux this is the priority of the calling thread alone; elsewhere it would be that of the whole process. With
// the lowest one (19) nobody could sign in any more while requests keep all cores busy: a hash would get a hundredth
// of one. With this it gets a tenth.
if (process.platform === 'linux') setPriority(10);

const memory = new Argon2Memory();

async function perform(job: PasswordJob): Promise<PasswordResult> {
  // Two machines may compose the same letters differently.
  const password = job.password.normalize('NFC');
  // Nobody has an empty password, and the library takes none.
  if (password === '' && job.type === 'verify') return { type: 'verified', matches: false };
  if (job.type === 'verify') {
    return { type: 'verified', matches: await argon2Verify({ password, hash: job.hash }) };
  }
  const { salt, memoryKib, passes, lanes } = job;
  const hash = await argon2id({
    password,
    salt,
    memorySize: memoryKib,
    iterations: passes,
    parallelism: lanes,
    hashLength: 32,
    outputType: 'encoded',
  });
  return { type: 'hashed', hash };
}

async function answer(job: PasswordJob): Promise<void> {
  let answered: PasswordResult;
  try {
    answered = await perform(job);
  } catch (error) {
    answered = { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  // Before the answer: it may bring the next job.
  await memory.wipe();
  parentPort?.postMessage(answered);
}

parentPort?.on('message', (job: PasswordJob) => void answer(job));
