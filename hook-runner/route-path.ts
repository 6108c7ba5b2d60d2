// Parses the paths of custom routes.
import type { RouteSegment } from './registrations.ts';
import { withoutPrototype } from './untampered.ts';

const parameter = /^(?::([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/;
const maxPathLength = 512;

/**
 * The segments of `/orders/:id/{line}/*`.
 *
 * @throws Error naming what is wrong with the path
 */
export function parseRoutePath(path: string): RouteSegment[] {
  if (path.length > maxPathLength) throw new Error(`a route's path has at most ${maxPathLength} characters`);
  const parts = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  if (parts.length === 1 && parts[0] === '') return withoutPrototype([]);
  const names = new Set<string>();
  const segments = parts.map((part, index) => {
    const segment = parseSegment(part, index === parts.length - 1);
    if (typeof segment === 'string') throw new Error(`route path ${JSON.stringify(path)}: ${segment}`);
    if (segment.kind === 'param' && names.has(segment.name)) {
      throw new Error(`route path ${JSON.stringify(path)} names "${segment.name}" twice`);
    }
    if (segment.kind === 'param') names.add(segment.name);
    return segment;
  });
  return withoutPrototype(segments);
}

/** Parses one segment. Returns a text that describes what is wrong with it otherwise. */
function parseSegment(part: string, isLast: boolean): RouteSegment | string {
  if (part === '') return 'there is nothing between two slashes';
  if (part === '*') return isLast ? withoutPrototype({ kind: 'rest' }) : '"*" stands only at the end';
  const name = parameter.exec(part);
  if (name !== null) return withoutPrototype({ kind: 'param', name: name[1] ?? name[2] ?? '' });
  if (/^:|[{}*?#]/.test(part)) {
    return `${JSON.stringify(part)} is neither a name nor ":name", "{name}" or a last "*"`;
  }
  return withoutPrototype({ kind: 'literal', value: decoded(part) });
}

/** Decodes a literal segment, as requested paths are compared in their decoded form. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a `%` that is no percent-encoding stands for itself
  }
}
