// The segments of a URL's path.
import { fail } from '../errors.ts';

/** Decodes the percent-encoding of a segment. Throws `404` for one that cannot be decoded: nothing has such a name. */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    fail('not_found', 'the path is not valid percent-encoding');
  }
}
