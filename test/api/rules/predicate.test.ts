// Access rules evaluated on records in memory: they admit the records of a list.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  admit,
  memoryCheck,
  type RuledTarget,
  rulePredicate,
  unboundedAccess,
} from '../../../api/rules/access.ts';
import type { Principal } from '../../../api/scope.ts';
import type { Databases } from '../../../storage/connections/databases.ts';
import type { AccessRule, CollectionDefinition } from '../../../storage/definition.ts';
import type { FilterRecord } from '../../../storage/app/filter/column-value.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const times = { created_at: now, updated_at: now };
const ada: Principal = {
  role: 'user',
  workspace: 'acme',
  id: randomUUID(),
  jti: 'j',
  issuedAt: 0,
  expiresAt: 9,
};

/** No rule here reads the caller's email, so no database is asked. */
const deps: { databases: Pick<Databases, 'app' | 'control'> } = {
  databases: {
    app: () => expect.fail('the database was asked'),
    get control(): never {
      return expect.fail('the database was asked');
    },
  },
};

function targetWith(list: AccessRule): RuledTarget {
  const collection: CollectionDefinition = {
    id: 'posts',
    kind: 'base',
    fields: [
      { name: 'owner', kind: 'relation', target: 'users' },
      { name: 'state', kind: 'text' },
      { name: 'note', kind: 'text' },
      { name: 'due', kind: 'datetime' },
    ],
    indexes: [],
    version: 1,
    rules: { list },
    ...times,
  };
  const workspace = { id: 'acme', name: 'Acme', database: 'w', ...times };
  const collections = new Map([['posts', collection]]);
  return { app: { workspace, id: 'shop', name: 'Shop', schema: 'a', collections, ...times }, collection };
}

function recordOf(fields: Record<string, unknown>): FilterRecord {
  const instant = now.toISOString();
  return { id: randomUUID(), fields, created_at: instant, updated_at: instant };
}

async function admits(principal: Principal | null, list: AccessRule, fields: Record<string, unknown>) {
  const target = targetWith(list);
  const access = await admit(deps, target, 'list', { principal, now, query: {} });
  return rulePredicate(access, target)({ record: recordOf(fields) }, now.getTime());
}

const filter = (text: string): AccessRule => ({ template: 'filter', filter: text });

describe('a rule in memory', () => {
  it('admits the records that it names, of whoever asks', async () => {
    const rule = filter('state = "public" || owner = @request.auth.id');
    expect(await admits(ada, rule, { owner: ada.id, state: null })).toBe(true);
    expect(await admits(ada, rule, { owner: randomUUID(), state: null })).toBe(false);
    expect(await admits(null, rule, { owner: ada.id, state: 'draft' })).toBe(false);
    expect(await admits(null, rule, { owner: ada.id, state: 'public' })).toBe(true);
  });

  it('refuses at once whom it refuses whatever the record is', async () => {
    for (const rule of [filter('owner = @request.auth.id'), { template: 'auth', filter: null } as const]) {
      await expect(async () => await admits(null, rule, {})).rejects.toMatchObject({ code: 'unauthorized' });
    }
    await expect(async () => await admits(ada, filter('gone = 1'), {})).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('looks at the time when it is asked, not when the stream began', async () => {
    const target = targetWith(filter('due > @now'));
    const access = await admit(deps, target, 'list', { principal: ada, now, query: {} });
    const passes = rulePredicate(access, target);
    const record = recordOf({ due: '2026-01-02T03:04:06.000Z' });
    expect(passes({ record }, now.getTime())).toBe(true);
    expect(passes({ record }, now.getTime() + 1_000)).toBe(false);
  });

  it('holds nothing back from an admin', () => {
    const target = targetWith({ template: 'admin', filter: null });
    expect(rulePredicate(unboundedAccess('list', now), target)({ record: recordOf({}) }, 0)).toBe(true);
  });
});

it('a record is not judged here when its texts would take long to compare', async () => {
  const rule = filter(Array.from({ length: 20 }, () => 'state < note').join(' || '));
  const target = targetWith(rule);
  const access = await admit(deps, target, 'list', { principal: ada, now, query: {} });
  const glance = memoryCheck(access, target);
  const fields = (length: number) => ({ state: `${'x'.repeat(length)}b`, note: `${'x'.repeat(length)}a` });
  expect(glance?.(recordOf(fields(1_000_000)))).toBeUndefined();
  expect(glance?.(recordOf(fields(10_000)))).toBe(false);
});
