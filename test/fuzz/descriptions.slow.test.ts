// Every operation of the API descriptions, asked by each kind of principal: no response is a failure or undocumented, and what
// is made by the description is mostly taken.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../api/contract/openapi.ts';
import { type ApiResponse, expectOk, send } from '../harness/api.ts';
import { operationsOf, type PlacedOperation, requestsFor } from './requests.ts';
import { kinds, openStage, type PrincipalKind, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.server.stop());

/** A busy machine takes longer than the minute that a quiet one needs. */
const patience = 300_000;

const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);

/** Statuses that say nothing about the data. */
const closed: ReadonlySet<number> = new Set([401, 403, 404, 429]);

/** Operations that refuse what is made for them for a reason that no schema states, by the end of method and path. */
const reasons: readonly (readonly [operation: RegExp, reason: string])[] = [
  [
    /^GET .*\/(?:records|records\/export|records\/aggregate|records\/\{id\}|events)$/,
    'filter, sort and fields are languages',
  ],
  [/^GET .*\/realtime$/, 'wants an upgrade'],
  [/^POST .*\/confirm$/, 'wants a token that was sent by mail'],
  [/^POST \/api\/workspaces$/, 'from names a workspace that must exist'],
  [/^POST .*\/auth\/password$/, 'policies say how long a password is'],
  [/^POST .*\/admins$/, 'policies say how long a password is, and apps must exist'],
  [/^(?:POST|PATCH) .*\/collections(?:\/\{coll\})?$/, 'fields and settings depend on the kind'],
  [/^POST .*\/records$/, 'on_conflict names an index; in general, fields are up to the collection'],
  [/^POST .*\/records\/import$/, 'the type says what the bytes are'],
  [/^PATCH .*\/records\/\{id\}$/, 'a modifier cannot stand beside its field'],
  [/^POST .*\/workspaces\/.*\/keys$/, 'some scopes are for keys of a higher level'],
  [/^PUT .*\/oauth\/providers\/\{provider\}$/, 'an unknown provider needs its URLs'],
  [/^PUT .*\/policies\/\{field\}$/, 'the kind is that of the policy'],
];

/** True for an operation that has no reason to refuse most of what is made for it. */
function isUnexplained(line: string): boolean {
  const operation = line.slice(0, line.indexOf(':'));
  return !reasons.some(([pattern]) => pattern.test(operation));
}

/** Of the operation itself, so that it is asked the same whatever others there are. */
function seedOf({ method, path }: PlacedOperation): number {
  return Buffer.from(method + path).reduce((sum, byte) => (sum * 31 + byte) % 1_000_003, seed % 1_000_003);
}

/** What became of an operation. */
interface Outcome {
  faults: string[];
  /** Requests as described that were let in, and those of them that were refused for what they are. */
  asked: number;
  refused: number;
  why: string;
}

/** Asks for every operation; returns what is wrong, and the operations that refuse most of what is described. */
async function fuzz(document: OpenApiDocument): Promise<{ faults: string[]; refusing: string[] }> {
  const faults: string[] = [];
  const refusing: string[] = [];
  for (const placed of operationsOf(document)) {
    const outcome: Outcome = { faults, asked: 0, refused: 0, why: '' };
    for (const [at, kind] of kinds.entries()) {
      await askAs(kind, { document, placed, outcome, seed: seedOf(placed) + at });
    }
    const { asked, refused, why } = outcome;
    if (refused * 2 > asked) {
      refusing.push(`${placed.method} ${placed.path}: ${refused} of ${asked}, as with ${why}`);
    }
  }
  return { faults, refusing };
}

async function askAs(
  kind: PrincipalKind,
  { document, placed, outcome, seed }: {
    document: OpenApiDocument;
    placed: PlacedOperation;
    outcome: Outcome;
    seed: number;
  },
): Promise<void> {
  const { components: { schemas }, servers: [own] } = document;
  const { token, url } = { token: (await stage.caller(kind)).token, url: stage.server.url };
  const { parameters } = stage;
  const count = { described: 2, odd: 1 };
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const base = own?.url === '/' ? '' : own?.url ?? '';
  const requests = requestsFor(placed, { schemas, parameters, seed, count });
  await Promise.all(requests.map(async ({ path, body, isDescribed }) => {
    const init = { method: placed.method, headers, ...body !== undefined && { body } };
    const response = await send(url + base + path, init);
    const { status, text } = response;
    const fault = faultOf(placed, document, response);
    if (fault !== undefined) {
      outcome.faults.push(
        `${kind}: ${placed.method} ${path} ${JSON.stringify(body)}: ${fault}`.slice(0, 800),
      );
    }
    if (!isDescribed || closed.has(status)) return;
    outcome.asked++;
    if (status !== 400 && status !== 422) return;
    outcome.refused++;
    outcome.why = text.slice(0, 200);
  }));
}

function faultOf(
  { operation }: PlacedOperation,
  { components }: OpenApiDocument,
  { status, headers, text }: ApiResponse,
): string | undefined {
  if (status >= 500) return `${status} ${text.slice(0, 200)}`;
  const found = operation.responses[status] ?? operation.responses['default'];
  if (found === undefined) return `${status} is undocumented: ${text.slice(0, 200)}`;
  const content = '$ref' in found
    ? components.responses[found.$ref.replace('#/components/responses/', '')]?.content ?? {}
    : found.content;
  const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
  const known = Object.keys(content).map((each) => each.split(';', 1)[0]);
  return type === '' || known.includes(type) || known.includes('*/*') ? undefined : `${status} with ${type}`;
}

describe('the API description', () => {
  it('of an app is what the app does', async () => {
    const master = await stage.caller('master');
    const document = expectOk(await master.get('/api/workspaces/acme/apps/shop/openapi.json'));
    const { faults, refusing } = await fuzz(document);
    expect(faults).toEqual([]);
    expect(refusing.filter(isUnexplained)).toEqual([]);
  }, patience);

  it('of the server is what the server does', async () => {
    const document = expectOk(await (await stage.caller('master')).get('/_/openapi.json'));
    const { faults, refusing } = await fuzz(document);
    expect(faults).toEqual([]);
    expect(refusing.filter(isUnexplained)).toEqual([]);
  }, patience);
});
