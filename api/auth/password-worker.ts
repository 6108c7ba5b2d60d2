// A thread that does nothing but argon2id (RFC 9106): a hash takes a core for 50 ms, which no event loop may lose.
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';
import type { PasswordAnswer, PasswordJob } from './password-threads.ts';

// On Linux this is the priority of the calling thread alone; elsewhere it would be that of the whole process. With
// the lowest one (19) nobody could sign in any more while requests keep all cores busy: a hash would get a hundredth
// of one. With this it gets a tenth.
if (process.platform === 'linux') setPriority(10);

// hash-wasm makes a new 19 MiB memory for each hash, and V8 lets dozens of them lie before it collects: 2 GB after
// 200 hashes, against 100 MB when each is collected at once.
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

async function perform(job: PasswordJob): Promise<PasswordAnswer> {
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
  let answered: PasswordAnswer;
  try {
    answered = await perform(job);
  } catch (error) {
    answered = { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answered);
  if (typeof collect === 'function') collect();
}

parentPort?.on('message', (job: PasswordJob) => void answer(job));
