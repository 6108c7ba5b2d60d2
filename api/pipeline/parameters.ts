// The parameters of a request: names in the path, values in the query.
import { check } from '../contract/check.ts';
import { decodeSegment } from '../http/path-segment.ts';
import type { Schema } from '../contract/schema.ts';
import type { RequestInfo } from '../http/request-info.ts';

const none: Readonly<Record<string, string>> = {};

/** The path parameters, decoded. Throws `404` for one that cannot be decoded: nothing has such a name. */
export function pathParameters(arrival: RequestInfo): Readonly<Record<string, string>> {
  const raw = arrival.event.context.params;
  if (raw === undefined) return none;
  if (!arrival.event.url.pathname.includes('%')) return raw;
  const decoded: Record<string, string> = {};
  for (const name in raw) decoded[name] = decodeSegment(raw[name] ?? '');
  return decoded;
}

/** The query as the schema has it. Throws `400 validation`. */
export function readQuery(arrival: RequestInfo, schema: Schema<unknown>): unknown {
  const { search } = arrival.event.url;
  // Most requests come without a query, and what has no member cannot have a wrong one.
  if (search === '' && schema.json.required?.length === 0) return {};
  return check(valuesIn(search, schema), schema);
}

/**
 * The values that a schema knows, converted from text to the schema's types where they can be; what cannot be
 * converted stays text, so that the check names it. Unknown names are ignored; of a repeated name the first counts.
 */
function valuesIn(search: string, schema: Schema<unknown>): Record<string, unknown> {
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
  if (type === 'integer' && /^-?\d+$/.test(raw)) return nearestSafe(Number(raw));
  if (type === 'boolean' && (raw === 'true' || raw === 'false')) return raw === 'true';
  return raw;
}

/** A whole number stays one, however long; no list reaches so far that the difference could be seen. */
function nearestSafe(value: number): number {
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
