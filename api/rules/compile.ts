// Access rules as conditions, made once for each version of a collection.
import { DerivedCache } from '../../storage/connections/derived-cache.ts';
import type {
  AccessRule,
  Action,
  AppDefinition,
  CollectionDefinition,
  Template,
} from '../../storage/definition.ts';
import {
  type Comparison,
  type Condition,
  type Hop,
  isColumn,
  type Term,
} from '../../storage/app/filter/condition.ts';
import { FilterError } from '../../storage/app/filter/parse/error.ts';
import { compilePredicate, type Predicate } from '../../storage/app/filter/evaluate.ts';
import { operators } from '../../storage/app/filter/operators/operators.ts';
import { parse } from '../../storage/app/filter/parse/parse.ts';
import { resolve } from '../../storage/app/filter/resolve.ts';
import { filterScope } from '../../storage/app/filter/source.ts';

/** The actions that have a rule, in the order in which they are listed. */
export const actions = ['list', 'get', 'create', 'update', 'delete'] as const satisfies readonly Action[];

/** The templates of rules. */
export const templates = ['any', 'auth', 'admin', 'filter'] as const satisfies readonly Template[];

/** What a rule asks of everybody but admins, who pass always. */
export interface CompiledRule {
  condition: Condition;
  /** Whether it must know the caller's email, which tokens do not say. */
  readsEmail: boolean;
  /**
   * The same over a record in memory, where the record by itself decides and at once: a pattern in a long text, or a place in
   * JSON, is for the database to look at, which can be told to stop.
   */
  checkInMemory: Predicate | undefined;
  /** Why the rule can no longer be understood: a field of it is gone. It admits admins only then. */
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

/** Characters of the filters of all rules that are remembered together; what is made of one takes some 50 times as much. */
const maxCharacters = 2 * 1_048_576;

// A pure function of the definitions, remembered as long as they are in use: every change makes new ones.
const compiled = new DerivedCache<CollectionDefinition, Map<Action, CompiledRule>>(maxCharacters);

/** The rule of an action, compiled. */
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
    const glance = isPlain(condition) ? compilePredicate(condition) : undefined;
    return { condition, readsEmail: mentionsEmail(condition), checkInMemory: glance, broken: undefined };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const condition = { kind: 'constant', truth: false } as const;
    return { condition, readsEmail: false, checkInMemory: undefined, broken: error.message };
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

/** The meaning of a filter over a collection. Throws `FilterError`. */
export function compileFilter(
  app: AppDefinition,
  collection: CollectionDefinition,
  filter: string,
): Condition {
  return resolve(parse(filter), filterScope(app, collection));
}

/** Whether a condition asks for the caller's email. */
function mentionsEmail(condition: Condition): boolean {
  return mentions(
    condition,
    (term) => term.kind === 'request' && term.part === 'auth' && term.name === 'email',
  );
}

/** Whether what a condition selects depends on when it is asked. */
export function mentionsNow(condition: Condition): boolean {
  return mentions(condition, (term) => term.kind === 'now');
}

/** What a condition asks for of who asks and of the query, as `auth.id` and `query.q`. */
export function requestMembers(condition: Condition): Set<string> {
  const names = new Set<string>();
  mentions(condition, (term) => {
    const differs = term.kind === 'request' && (term.part === 'auth' || term.part === 'query');
    if (differs) names.add(`${term.part}.${term.name}`);
    return false;
  });
  return names;
}

/** Names of the collections that a condition looks into, besides its own. */
export function relatedCollections(condition: Condition): Set<string> {
  const names = new Set<string>();
  mentions(condition, (term) => {
    if (isColumn(term)) { for (const { target } of term.hops) names.add(target); }
    return false;
  });
  return names;
}

/** The relations that a condition follows, each time that it does; not from a profile to its user. */
export function hopsIn(condition: Condition): Hop[] {
  const hops: Hop[] = [];
  mentions(condition, (term) => {
    if (isColumn(term)) hops.push(...term.hops.filter(({ isOwn }) => isOwn !== true));
    return false;
  });
  return hops;
}

/** How many comparisons it takes to know whether a record of a collection may be looked at. */
export function comparisonsToRead(app: AppDefinition, id: string): number {
  const collection = app.collections.get(id);
  if (collection === undefined) return 1;
  let count = 0;
  someTest(compiledRule(app, collection, 'get').condition, () => {
    count++;
    return false;
  });
  return count;
}

/** Whether each comparison is of the record's own columns, and takes no longer than its values are long. */
function isPlain(condition: Condition): boolean {
  const isFar = (term: Term) => isColumn(term) && (term.hops.length > 0 || term.type === 'json');
  return !mentions(condition, isFar) && !someTest(condition, isPattern);
}

function isPattern(test: Comparison): boolean {
  return test.kind === 'compare' && operators[test.operator].pattern;
}

function mentions(condition: Condition, wanted: (term: Term) => boolean): boolean {
  return someTest(
    condition,
    (test) => test.kind === 'empty' ? wanted(test.term) : wanted(test.left) || wanted(test.right),
  );
}

function someTest(condition: Condition, wanted: (test: Comparison) => boolean): boolean {
  switch (condition.kind) {
    case 'constant':
      return false;
    case 'and':
    case 'or':
      return condition.parts.some((part) => someTest(part, wanted));
    case 'not':
      return someTest(condition.part, wanted);
    case 'compare':
    case 'empty':
      return wanted(condition);
  }
}

// Which apps have a `get` rule that reads the caller's email: it then counts wherever relations are followed.
const emailReaders = new WeakMap<AppDefinition, boolean>();

/**
 * Whether following relations of this app's records may need the caller's email. Seen by the text of the rules: an app may have
 * a thousand of them, and nobody should wait until all are compiled.
 */
export function relationsReadEmail(app: AppDefinition): boolean {
  let reads = emailReaders.get(app);
  if (reads === undefined) {
    reads = app.collections.values().some(({ rules }) => mayReadEmail(rules.get));
    emailReaders.set(app, reads);
  }
  return reads;
}

function mayReadEmail(rule: AccessRule | undefined): boolean {
  return rule?.filter?.includes('@request.auth.email') === true;
}
