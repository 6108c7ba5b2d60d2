// The cookie of a client that has signed in before: guesses of others at its name do not lock it out.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Deps } from '../../deps.ts';

/** How long the cookie is good, in seconds: 90 days. */
export const knownClientSeconds = 7_776_000;

/** The value of the cookie for a client that has just signed in: an id of its own, signed together with the subject. */
export function signKnownClient(
  { secrets, newId }: Pick<Deps, 'secrets' | 'newId'>,
  subject: string,
): string {
  const id = newId();
  return `${id}.${secrets.clientSignature(`${subject}\0${id}`).toString('base64url')}`;
}

/** The id in the cookie; undefined when it was not made here for this subject. */
export function readKnownClient(
  { secrets }: Pick<Deps, 'secrets'>,
  subject: string,
  value: string | undefined,
): string | undefined {
  const [id, signature] = value?.split('.') ?? [];
  if (id === undefined || signature === undefined) return undefined;
  const right = secrets.clientSignature(`${subject}\0${id}`).toString('base64url');
  return timingSafeEqual(digest(right), digest(signature)) ? id : undefined;
}

/** Of equal length whatever the client sends, as the comparison requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
