// Password verifiers as PostgreSQL stores them.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/**
 * The SCRAM-SHA-256 verifier of a password (RFC 5803), so that PostgreSQL, its log and its statistics never see the
 * password itself. The password must be ASCII, which needs no SASLprep.
 */
export function scramVerifier(password: string, salt: Buffer, iterations: number): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
