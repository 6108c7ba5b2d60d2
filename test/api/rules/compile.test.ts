// What is made of access rules: only of those that are asked for, and remembered within bounds.
import { expect, it } from 'vitest';
import { membersOfGetRules } from '../../../api/rules/caller-members.ts';
import { refuseCostly } from '../../../api/rules/caller-filter.ts';
import { compiledRule, compileFilter } from '../../../api/rules/compile.ts';
import type { AppDefinition, CollectionDefinition, Field } from '../../../storage/definition.ts';

const now = new Date();
const title: Field = { name: 'title', kind: 'text' };

/** A collection whose `get` and `list` rules are the filter; `onLook` hears of each look at its fields. */
function collectionOf(
  id: string,
  filter: string,
  { fields = [title], onLook = () => {} }: { fields?: Field[]; onLook?: (id: string) => void } = {},
): CollectionDefinition {
  const rule = { template: 'filter', filter } as const;
  return {
    id,
    kind: 'base',
    indexes: [],
    version: 1,
    rules: { get: rule, list: rule },
    created_at: now,
    updated_at: now,
    get fields() {
      onLook(id);
      return fields;
    },
  };
}

function appOf(collections: CollectionDefinition[]): AppDefinition {
  return {
    workspace: { id: 'acme', name: 'Acme', database: 'w_acme', created_at: now, updated_at: now },
    id: 'shop',
    name: 'Shop',
    schema: 'a_shop',
    created_at: now,
    updated_at: now,
    collections: new Map(collections.map((collection) => [collection.id, collection])),
  };
}

it('what relations need to know of the caller is known without any rule being compiled', () => {
  const looked = new Set<string>();
  const onLook = (id: string) => looked.add(id);
  const plain = Array.from(
    { length: 20 },
    (_, index) => collectionOf(`c${index}`, 'title != null', { onLook }),
  );
  expect(membersOfGetRules(appOf(plain))).toEqual([]);
  const reader = collectionOf('reader', 'title = @request.auth.email', { onLook });
  expect(membersOfGetRules(appOf([...plain, reader]))).toEqual(['email']);
  expect(looked).toEqual(new Set());
});

it('a filter that looks through too many rules is refused before all of them are compiled', () => {
  const looked = new Set<string>();
  const onLook = (id: string) => looked.add(id);
  const long = Array.from({ length: 100 }, (_, index) => `title != '${index}'`).join(' || ');
  const targets = Array.from({ length: 60 }, (_, index) => collectionOf(`t${index}`, long, { onLook }));
  const fields: Field[] = targets.map(({ id }) => ({ name: id, kind: 'relation', target: id }));
  const own = collectionOf('own', 'id != null', { fields });
  const app = appOf([...targets, own]);
  const condition = compileFilter(app, own, targets.map(({ id }) => `${id}.title = 'a'`).join(' || '));
  looked.clear();
  expect(() => refuseCostly(app, condition)).toThrow('more than 1024 comparisons');
  // The eleventh is the first beyond 1,024.
  expect(looked.size).toBe(11);
});

it('rules are remembered, until those of all collections have become too long together', () => {
  const long = `title != '${'x'.repeat(4_000)}'`;
  const first = collectionOf('first', long);
  const app = appOf([first]);
  const rule = compiledRule(app, first, 'get');
  expect(compiledRule(app, first, 'get')).toBe(rule);
  const characters = 2 * 1_048_576;
  for (let index = 0; index * long.length < characters; index++) {
    compiledRule(app, collectionOf(`c${index}`, long), 'list');
  }
  expect(compiledRule(app, first, 'get')).not.toBe(rule);
});
