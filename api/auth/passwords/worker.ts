// The thread of argon2id (RFC 9106): a hash takes 50 ms of a core, which must not block the event loop.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';
import { Argon2Memory } from './argon2-memory.ts';
import type { PasswordJob, PasswordResult } from './threads.ts';

// On Linux this sets the priority of the calling thread alone; elsewhere it would be that of the whole process. While
// requests keep all cores busy, this priority gets a tenth of a core. The lowest one (19) would get a hundredth, and no
// login would complete.
if (process.platform === 'linux') setPriority(10);

const memory = new Argon2Memory();

async function perform(job: PasswordJob): Promise<PasswordResult> {
  // Two machines may encode the same letters differently.
  const password = job.password.normalize('NFC');
  // No user has an empty password, and the library refuses one.
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

async function respond(job: PasswordJob): Promise<void> {
  let result: PasswordResult;
  try {
    result = await perform(job);
  } catch (error) {
    result = { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  // Before the response, after which the next job may arrive.
  await memory.wipe();
  parentPort?.postMessage(result);
}

parentPort?.on('message', (job: PasswordJob) => void respond(job));
