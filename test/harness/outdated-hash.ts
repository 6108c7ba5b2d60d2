// Hashes of passwords as an earlier release may have made them.
import { argon2Sync, randomBytes } from 'node:crypto';

/** The PHC string of a password with less memory than today's. */
export function outdatedHash(password: string): string {
  const nonce = randomBytes(16);
  const options = { message: password, nonce, memory: 8_192, passes: 3, parallelism: 1, tagLength: 32 };
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=8192,t=3,p=1$${text(nonce)}$${text(argon2Sync('argon2id', options))}`;
}
