// Random rules and filters with relations, asked as a list asks them and as a stream does: both must show the same records.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../../../api/errors.ts';
import { RuleGate } from '../../../../api/realtime/visibility/gate.ts';
import { cursorLength } from '../../../../api/realtime/cursor.ts';
import { encodeEvent, readEvent } from '../../../../api/realtime/event.ts';
import { asFilterRecord } from '../../../../api/realtime/visibility/published-records.ts';
import { readRelated, relatedFor } from '../../../../api/realtime/visibility/related-reads.ts';
import { admit, ruleResidue } from '../../../../api/rules/access.ts';
import { relatedGuard } from '../../../../api/rules/related.ts';
import { compileCallerFilter } from '../../../../api/rules/caller-filter.ts';
import type { Principal } from '../../../../api/scope.ts';
import type {
  AccessRule,
  Action,
  AppDefinition,
  CollectionDefinition,
} from '../../../../storage/definition.ts';
import { FilterError } from '../../../../storage/app/filter/parse/error.ts';
import { fold } from '../../../../storage/app/filter/fold.ts';
import { planFor } from '../../../../storage/app/records/plan.ts';
import { selectSlice } from '../../../../storage/app/records/records.ts';
import type { Restriction } from '../../../../storage/app/records/restriction.ts';
import { conditionOf, type FilteredTables, makeTables } from '../../../storage/app/filter/fixture.ts';
import { fillAtRandom } from '../../../storage/app/filter/random.ts';
import { uuids } from '../../../storage/app/filter/random-values.ts';
import { filterOfMany } from '../../../storage/app/filter/random-many.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const [first = '', second = ''] = uuids;

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makeTables());
  // Its admin has no email, as a master admin.
  await tables.pool.run((sql) =>
    sql.unsafe('create schema control; create table control.admins (id uuid, email text)')
  );
  await fillAtRandom(tables, {
    posts: 80,
    userOf: (id) => ({ email: `${id.at(-1)}@example.com`, verified: id !== first }),
  });
}, 60_000);
afterAll(() => drop());

type Rules = Readonly<Partial<Record<Action, AccessRule>>>;

const ruled = (written: string): AccessRule => ({ template: 'filter', filter: written });

function withRules(rules: Readonly<Record<string, Rules>>): AppDefinition {
  const collections = [...tables.app.collections].map(([id, collection]): [string, CollectionDefinition] => [
    id,
    { ...collection, rules: rules[id] ?? {} },
  ]);
  return { ...tables.app, collections: new Map(collections) };
}

const user: Principal = { role: 'user', id: second, workspace: 'w', jti: 'j', issuedAt: 0, expiresAt: 9e9 };
const adminOfAll: Principal = { ...user, role: 'master_admin' };

const databases = {
  app: () => tables.pool,
  get control() {
    return tables.pool;
  },
};

interface Asked {
  app: AppDefinition;
  principal: Principal | null;
  filter: string;
}

function targetOf(app: AppDefinition) {
  const collection = app.collections.get('posts');
  if (collection === undefined) throw new Error('no posts');
  return { app, collection };
}

/** As `GET records?filter=` does. */
async function listed({ app, principal, filter: written }: Asked): Promise<string[]> {
  const target = targetOf(app);
  const access = await admit({ databases }, target, 'list', { principal, now, query: { filter: written } });
  const rule = ruleResidue(access, target);
  const guard = relatedGuard(access, app);
  const residue = fold(compileCallerFilter(app, target.collection, written), { ...access.request, body: {} });
  const restrictions: Restriction[] = [
    ...(rule === undefined ? [] : [{ residue: rule }]),
    guard === undefined ? { residue } : { residue, guard },
  ];
  const plan = planFor(app.schema, target.collection);
  const slice = { sort: [], limit: 1_000, offset: 0, withSnapshot: false, maxBytes: 1_000_000 };
  const { records } = await tables.pool.run((sql) =>
    selectSlice(sql, plan, { restrictions, isAdHoc: true }, slice)
  );
  return records.map(({ id }) => id).sort();
}

/** As `GET events?filter=` does. */
async function streamed({ app, principal, filter: written }: Asked): Promise<string[]> {
  const definitions = {
    peekApp: () => app,
    app: async () => app,
    workspace: async () => app.workspace,
    onInvalidate: () => () => undefined,
  };
  const gate = new RuleGate({ databases, definitions, tokens: { current: () => user }, now: () => now });
  const topic = { workspace: 'w', app: 'a', collection: 'posts' };
  const view = await gate.authorize({ topic, principal, query: {}, filter: written });
  const changes = tables.records('posts').map((record, index) => ({
    type: 'record_updated' as const,
    // A replay reads records from the JSON of their events.
    record: { ...index % 2 === 0 ? record : asFilterRecord(readReplayed({ ...record })) },
  }));
  const related = relatedFor(view, await readRelated(changes, [view]));
  return changes.filter((change) => view.passes(change, related)).map(({ record }) => record.id).sort();
}

function readReplayed(record: Readonly<Record<string, unknown>>): object {
  const place = { seq: 1, id: 'x'.repeat(cursorLength) };
  const { frame } = encodeEvent({ type: 'record_updated', record }, place);
  return readEvent(frame, place).record;
}

/** Whoever is refused is shown nothing, be it at once or record by record. */
async function shownBy(ask: Promise<string[]>): Promise<string[]> {
  try {
    return await ask;
  } catch (error) {
    if (error instanceof ApiError && ['forbidden', 'unauthorized'].includes(error.code)) return [];
    throw error;
  }
}

/** A literal cannot be read as the type of a random column. */
function isRefused(written: string): boolean {
  try {
    conditionOf(written);
    return false;
  } catch (error) {
    if (error instanceof FilterError) return true;
    throw error;
  }
}

const getRules = [
  "name = 'a'",
  'age > 1',
  "meta.a = 'a' || friend = null",
  "company.country.name = 'a'",
  "friend.name != 'a' && @request.auth.id != null",
  'friend.friend.id = @request.auth.id',
  'id = @request.auth.id',
];

describe('a stream', () => {
  it(
    'shows the same records as a list, whatever its rule, its filter and the rules of what they look at are',
    async () => {
      let [looked, selective] = [0, 0];
      const total = tables.records('posts').length;
      const who = fc.constantFrom(user, user, null, adminOfAll);
      const get = fc.constantFrom(...getRules);
      await fc.assert(
        fc.asyncProperty(filterOfMany, filterOfMany, get, who, async (list, written, authors, principal) => {
          if (isRefused(list) || isRefused(written)) return;
          const app = withRules({
            posts: { list: ruled(list) },
            authors: { get: ruled(authors) },
            companies: { get: { template: 'auth', filter: null } },
            countries: { get: { template: 'any', filter: null } },
          });
          const asked = { app, principal, filter: written };
          const inSql = await shownBy(listed(asked));
          expect(await shownBy(streamed(asked))).toEqual(inSql);
          if (/\b(author|editor|owner)\./.test(list + written)) looked++;
          if (inSql.length > 0 && inSql.length < total) selective++;
        }),
        { numRuns: 700 },
      );
      expect(looked).toBeGreaterThan(100);
      expect(selective).toBeGreaterThan(50);
    },
    120_000,
  );

  it.each([
    ['author.name = "a"', 'any', 'name = "nobody"'],
    ['!(author.name = "a")', 'any', 'name = "nobody"'],
    ['author.friend.name = "a"', 'any', 'friend.name = "a"'],
    ['owner.verified = true', 'owner.email ~ "%@example.com"', 'name = "a"'],
    ['owner.email = null', 'author.age > 1', 'name = "a"'],
  ])('agrees with a list on %s under %s where authors are shown if %s', async (written, list, get) => {
    const app = withRules({
      posts: { list: list === 'any' ? { template: 'any', filter: null } : ruled(list) },
      authors: { get: ruled(get) },
    });
    for (const principal of [user, adminOfAll, null]) {
      const asked = { app, principal, filter: written };
      expect(await streamed(asked)).toEqual(await listed(asked));
    }
  });
});
