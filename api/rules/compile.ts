// Compiles access rules to conditions, once for each version of a collection.
import { DerivedCache } from '../../storage/connections/derived-cache.ts';
import type {
  AccessRule,
  Action,
  AppDefinition,
  CollectionDefinition,
  Template,
} from '../../storage/definition.ts';
import {
  asksForMany,
  comparisonsIn,
  type Condition,
  isColumn,
  reachesIn,
  stepsIn,
  termsIn,
} from '../../storage/app/filter/condition.ts';
import { FilterError } from '../../storage/app/filter/parse/error.ts';
import { compilePredicate, type Predicate } from '../../storage/app/filter/evaluate.ts';
import { operators } from '../../storage/app/filter/operators/operators.ts';
import { parse } from '../../storage/app/filter/parse/parse.ts';
import { resolve } from '../../storage/app/filter/resolve.ts';
import { filterScope } from '../../storage/app/filter/source.ts';
import { callerMembersIn } from './caller-members.ts';

/** The actions that have a rule, in the order in which they are listed. */
export const actions = ['list', 'get', 'create', 'update', 'delete'] as const satisfies readonly Action[];

/** The templates of rules. */
export const templates = ['any', 'auth', 'admin', 'filter'] as const satisfies readonly Template[];

/** A compiled rule. It does not apply to admins. */
export interface CompiledRule {
  condition: Condition;
  /** The members of the caller that it reads and tokens do not have: see `callerMembersIn`. */
  callerMembers: readonly string[];
  /**
   * The condition as a predicate over a record in memory. Undefined for a condition with relations, patterns or JSON paths,
   * which may take long: the database evaluates these, under its time limit.
   */
  checkInMemory: Predicate | undefined;
  /** The reason why the rule cannot be compiled, such as a dropped field. It then admits admins only. */
  broken: string | undefined;
}

const defaultRule: AccessRule = { template: 'admin', filter: null };
const signedIn: Condition = {
  kind: 'not',
  part: { kind: 'empty', term: { kind: 'request', part: 'auth', name: 'id', readAs: undefined } },
};

/** The rule as it was set, or the default. */
export function ruleSetting({ rules }: CollectionDefinition, action: Action): AccessRule {
  return rules[action] ?? defaultRule;
}

/** Characters of the filters of all cached rules. A compiled rule takes some 50 times as much memory. */
const maxCharacters = 2 * 1_048_576;

// Compiled rules depend on the definitions alone, and every change of these makes new ones.
const compiled = new DerivedCache<CollectionDefinition, Map<Action, CompiledRule>>(maxCharacters);

/** The compiled rule of an action. */
export function compiledRule(
  app: AppDefinition,
  collection: CollectionDefinition,
  action: Action,
): CompiledRule {
  const rules = compiled.of(collection, () => new Map<Action, CompiledRule>());
  const known = rules.get(action);
  if (known !== undefined) return known;
  const setting = ruleSetting(collection, action);
  const rule = compileRule(app, collection, setting);
  rules.set(action, rule);
  compiled.grow(setting.filter?.length ?? 0);
  return rule;
}

function compileRule(app: AppDefinition, collection: CollectionDefinition, rule: AccessRule): CompiledRule {
  try {
    const condition = conditionOf(app, collection, rule);
    const checkInMemory = isPlain(condition) ? compilePredicate(condition) : undefined;
    const callerMembers = callerMembersIn(rule.template === 'filter' ? rule.filter : null);
    return { condition, callerMembers, checkInMemory, broken: undefined };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const condition = { kind: 'constant', truth: false } as const;
    return { condition, callerMembers: [], checkInMemory: undefined, broken: error.message };
  }
}

function conditionOf(
  app: AppDefinition,
  collection: CollectionDefinition,
  { template, filter }: AccessRule,
): Condition {
  switch (template) {
    case 'any':
    case 'admin':
      return { kind: 'constant', truth: template === 'any' };
    case 'auth':
      return signedIn;
    case 'filter':
      return compileFilter(app, collection, filter ?? '');
  }
}

/** Compiles a rule or, `isOfCaller`, the filter of a caller over a collection. Throws `FilterError`. */
export function compileFilter(
  app: AppDefinition,
  collection: CollectionDefinition,
  filter: string,
  { isOfCaller = false } = {},
): Condition {
  return resolve(parse(filter), { ...filterScope(app, collection), isOfCaller });
}

/** True when a condition depends on the time. */
export function mentionsNow(condition: Condition): boolean {
  return termsIn(condition).some((term) => term.kind === 'now');
}

/** The members of the caller and the query that a condition reads, such as `auth.id` and `query.q`. */
export function requestMembers(condition: Condition): Set<string> {
  const names = new Set<string>();
  for (const term of termsIn(condition)) {
    const differs = term.kind === 'request' && (term.part === 'auth' || term.part === 'query');
    if (differs) names.add(`${term.part}.${term.name}`);
  }
  return names;
}

/** The names of the related collections that a condition reads. */
export function relatedCollections(condition: Condition): Set<string> {
  return new Set(stepsIn(condition).map(({ target }) => target));
}

/** The number of comparisons in the `get` rule of a collection. */
export function comparisonsToRead(app: AppDefinition, id: string): number {
  const collection = app.collections.get(id);
  if (collection === undefined) return 1;
  return comparisonsIn(compiledRule(app, collection, 'get').condition).reduce((count) => count + 1, 0);
}

/** True when each comparison reads the record's own columns, in time linear in their length. */
function isPlain(condition: Condition): boolean {
  if (asksForMany(condition)) return false;
  return comparisonsIn(condition).every((test) =>
    test.kind === 'empty' || !operators[test.operator].pattern
  ) && termsIn(condition).every((term) => !isColumn(term) || term.hops.length === 0 && term.type !== 'json');
}

const collectionsAsked = new WeakMap<AppDefinition, ReadonlySet<string>>();

/** The collections whose records `list` and `get` rules of an app ask for, backwards or as `@collection`. */
export function askedCollections(app: AppDefinition): ReadonlySet<string> {
  let asked = collectionsAsked.get(app);
  if (asked === undefined) {
    const rules = app.collections.values().flatMap((collection) =>
      // By the text first, as above.
      (['list', 'get'] as const).flatMap((action) =>
        /_via_|@collection/.test(collection.rules[action]?.filter ?? '')
          ? [...reachesIn(compiledRule(app, collection, action).condition)]
          : []
      )
    );
    asked = new Set(rules.map(({ target }) => target));
    collectionsAsked.set(app, asked);
  }
  return asked;
}
