// Refresh tokens: `rfsh_` and an encrypted text that says where its session is kept; only a hash of both is stored.
import { randomBytes } from 'node:crypto';
import { type Secrets, UnsealError } from '../../../storage/secrets.ts';
import { hashToken } from '../email/one-time.ts';

/** A token as its bearer has it, and as it is stored. */
export interface RefreshToken {
  text: string;
  hash: Buffer;
}

const prefix = 'rfsh_';
const randomLength = 32;
/** What is appended to the token of a login when it is exchanged. */
const tailLength = 32;
const maxLength = 400;

/** A new token of a session in a workspace's database, or in the control database (undefined). */
export function makeRefreshToken(secrets: Secrets, workspace: string | undefined): RefreshToken {
  const content = Buffer.concat([randomBytes(randomLength), Buffer.from(workspace ?? '')]);
  const text = prefix + secrets.seal('refresh-token', '', content).toString('base64url');
  return { text, hash: hashToken(text) };
}

/**
 * The token that a token is exchanged for. It is the same one each time, so it can be handed out again without being stored,
 * and needs the master key to be found. `previous` is a token that `readRefreshToken` has read.
 */
export function makeSuccessor(secrets: Secrets, previous: string): RefreshToken {
  const bytes = Buffer.from(previous.slice(prefix.length), 'base64url');
  const sealed = open(secrets, bytes) === undefined ? bytes.subarray(0, -tailLength) : bytes;
  const tail = secrets.keyedHash('successor', previous);
  const text = prefix + Buffer.concat([sealed, tail]).toString('base64url');
  return { text, hash: hashToken(text) };
}

/**
 * Where a token's session is kept; undefined for what was never a token of ours, so that a made-up one costs no
 * database a query.
 */
export function readRefreshToken(
  secrets: Secrets,
  text: string,
): { workspace: string | undefined; hash: Buffer } | undefined {
  if (!text.startsWith(prefix) || text.length > maxLength) return undefined;
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  const content = open(secrets, bytes) ?? open(secrets, bytes.subarray(0, -tailLength));
  if (content === undefined) return undefined;
  const workspace = content.toString('utf8', randomLength);
  return { workspace: workspace === '' ? undefined : workspace, hash: hashToken(text) };
}

function open(secrets: Secrets, sealed: Buffer): Buffer | undefined {
  try {
    return secrets.open('refresh-token', '', sealed);
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}
