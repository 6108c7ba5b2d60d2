// Reads the parameters of a request from its path and its query.
import { check } from '../contract/check.ts';
import { decodeSegment } from '../http/path-segment.ts';
import type { Schema } from '../contract/schema.ts';
import type { RequestInfo } from '../http/request-info.ts';

const none: Readonly<Record<string, string>> = {};

/** Reads and decodes the path parameters. Throws `404 not_found` for one that cannot be decoded: nothing has such a name. */
export function pathParameters(request: RequestInfo): Readonly<Record<string, string>> {
  const raw = request.event.context.params;
  if (raw === undefined) return none;
  if (!request.event.url.pathname.includes('%')) return raw;
  const decoded: Record<string, string> = {};
  for (const name in raw) decoded[name] = decodeSegment(raw[name] ?? '');
  return decoded;
}

/** Reads and checks the query. Throws `400 validation`. */
export function readQuery(request: RequestInfo, schema: Schema<unknown>): unknown {
  const { search } = request.event.url;
  // Most requests have no query, so there is nothing that could be wrong.
  if (search === '' && schema.json.required?.length === 0) return {};
  return check(queryValues(search, schema), schema);
}

/**
 * Reads the values that a schema names, and converts them to the schema's types. A value that cannot be converted stays text,
 * and the check names it. Unknown names are ignored; of a repeated name the first counts.
 */
function queryValues(search: string, schema: Schema<unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const query = new URLSearchParams(search);
  const properties = schema.json.properties ?? {};
  for (const name in properties) {
    const raw = query.get(name);
    if (raw !== null) values[name] = convert(raw, properties[name]?.type);
  }
  return values;
}

function convert(raw: string, type: string | string[] | undefined): unknown {
  if (type === 'integer' && /^-?\d+$/.test(raw)) return clampToSafe(Number(raw));
  if (type === 'boolean' && (raw === 'true' || raw === 'false')) return raw === 'true';
  return raw;
}

/** Keeps a number within the integers that a double holds exactly; no list is so long that the difference shows. */
function clampToSafe(value: number): number {
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
