// Requests for an operation of an API description: as it says, and otherwise.
import fc from 'fast-check';
import type { OpenApiDocument } from '../../api/contract/openapi.ts';
import type { Operation } from '../../api/contract/operation.ts';
import { valuesOf } from './arbitraries.ts';

/** A request for an operation. */
export interface FuzzRequest {
  path: string;
  body: unknown;
  /** True when the body and the query are as the description says. */
  isDescribed: boolean;
}

/** An operation with its place in a document. */
export interface PlacedOperation {
  method: string;
  path: string;
  operation: Operation;
}

/** The operations of a document: what takes most away comes last, the deepest first. */
export function operationsOf({ paths }: OpenApiDocument): PlacedOperation[] {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    }))
  );
  const rank = ({ method, path }: PlacedOperation) => {
    if (/\/(?:logout|auth\/me)$/.test(path) && method !== 'GET') return 5_000;
    if (method === 'DELETE') return 4_000 - path.split('/').length;
    return ['GET', 'POST', 'PATCH', 'PUT'].indexOf(method) * 1_000;
  };
  return all.sort((a, b) => rank(a) - rank(b));
}

/** What requests are made of. */
export interface RequestParts {
  schemas: OpenApiDocument['components']['schemas'];
  /** What path parameters may be. */
  parameters: Readonly<Record<string, string>>;
  seed: number;
  /** How many requests are as described, and how many have anything for a body and a query. */
  count: { described: number; odd: number };
}

/** Requests for an operation. */
export function requestsFor(placed: PlacedOperation, parts: RequestParts): FuzzRequest[] {
  const { count, seed } = parts;
  return [
    ...fc.sample(describedRequests(placed, parts), { numRuns: count.described, seed }),
    ...fc.sample(oddRequests(placed, parts), { numRuns: count.odd, seed }),
  ];
}

function describedRequests(
  { path, operation }: PlacedOperation,
  { schemas, parameters }: RequestParts,
): fc.Arbitrary<FuzzRequest> {
  const asked = operation.parameters?.filter((one) => one.in === 'query') ?? [];
  const query = fc.record(
    Object.fromEntries(asked.map((one) => [one.name, valuesOf(one.schema, schemas)])),
    { requiredKeys: asked.filter(({ required }) => required).map(({ name }) => name) },
  );
  const content = operation.requestBody?.content ?? {};
  const json = content['application/json']?.schema;
  const bytes = content['*/*'] === undefined ? fc.constant(undefined) : fc.string({ unit: 'grapheme' });
  const real = place(path, (name, before) => parameters[name === 'id' ? before : name]);
  return fc.tuple(json === undefined ? bytes : valuesOf(json, schemas), query).map(([body, values]) => ({
    ...{ path: withQuery(real, values), body, isDescribed: true },
  }));
}

function oddRequests(
  { path, operation }: PlacedOperation,
  { schemas, parameters }: RequestParts,
): fc.Arbitrary<FuzzRequest> {
  const all = operation.parameters ?? [];
  const inPath = all.filter((one) => one.in === 'path').map((
    one,
  ) => [one.name, valuesOf(one.schema, schemas)]);
  const query = fc.dictionary(
    fc.constantFrom(...all.map(({ name }) => name), 'page'),
    fc.string({ unit: 'grapheme' }),
  );
  const body = operation.requestBody === undefined ? fc.constant(undefined) : fc.jsonValue({ maxDepth: 2 });
  return fc.tuple(query, body, fc.record(Object.fromEntries(inPath))).map(([odd, body, values]) => {
    const at = place(
      path,
      (name, before) =>
        name === 'workspace' || name === 'app'
          ? parameters[name]
          : odd[name] ?? String(Reflect.get(values, name) ?? before),
    );
    return { path: withQuery(at, odd), body, isDescribed: false };
  });
}

function place(path: string, valueOf: (name: string, before: string) => string | undefined): string {
  let before = '';
  return path.split('/').map((segment) => {
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    if (name === undefined) return before = segment;
    return encodeURIComponent(valueOf(name, before) ?? '00000000-0000-4000-8000-000000000000') || '-';
  }).join('/');
}

function withQuery(path: string, values: Record<string, unknown>): string {
  const query = new URLSearchParams(
    Object.entries(values).filter(([, value]) => value !== undefined).map((
      [name, value],
    ) => [name, String(value)]),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}
