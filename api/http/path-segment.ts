// What stands between two slashes of a URL's path.
import { fail } from '../errors.ts';

/** A piece without its percent-encoding. Throws `404` for one that cannot be decoded: nothing has such a name. */
export function decodeSegment(piece: string): string {
  if (!piece.includes('%')) return piece;
  try {
    return decodeURIComponent(piece);
  } catch {
    fail('not_found', 'the path is not valid percent-encoding');
  }
}
