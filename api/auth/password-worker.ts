// A thread that does nothing but argon2id (RFC 9106): a hash takes a core for 20 ms, which no event loop may lose.
import { argon2Sync, timingSafeEqual } from 'node:crypto';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { PasswordAnswer, PasswordJob } from './password-threads.ts';
import { parsePhc, type PhcString, renderPhc } from './phc.ts';

// On Linux this is the priority of the calling thread alone; elsewhere it would be that of the whole process. The
// lowest one: any other lets a hash run on, once in a while, when a request has woken up on its core.
if (process.platform === 'linux') setPriority(19);

function perform(job: PasswordJob): PasswordAnswer {
  if (job.type === 'verify') {
    const known = parsePhc(job.hash);
    const matches = timingSafeEqual(tagOf(job.password, known), known.tag);
    // Nobody has an empty password, whatever a hash says.
    return { type: 'verified', matches: matches && job.password !== '' };
  }
  const { memoryKib, passes, lanes, salt } = job;
  const wanted = { algorithm: 'argon2id', memoryKib, passes, lanes, salt, tag: new Uint8Array(32) } as const;
  return { type: 'hashed', hash: renderPhc({ ...wanted, tag: tagOf(job.password, wanted) }) };
}

function tagOf(password: string, { algorithm, memoryKib, passes, lanes, salt, tag }: PhcString): Uint8Array {
  return argon2Sync(algorithm, {
    // Two machines may compose the same letters differently.
    message: Buffer.from(password.normalize('NFC')),
    nonce: salt,
    memory: memoryKib,
    passes,
    parallelism: lanes,
    tagLength: tag.length,
  });
}

function answer(job: PasswordJob): PasswordAnswer {
  try {
    return perform(job);
  } catch (error) {
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (job: PasswordJob) => parentPort?.postMessage(answer(job)));
