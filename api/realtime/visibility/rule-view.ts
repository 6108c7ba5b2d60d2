// What a subscriber may see of a collection: what passes its `list` rule and the subscriber's own filter, each of which may
// look at related records.
import type { AppDefinition, CollectionDefinition } from '../../../storage/definition.ts';
import {
  type Condition,
  hopPath,
  ownColumns,
  type RelatedPart,
  relatedParts,
} from '../../../storage/app/filter/condition.ts';
import { compilePredicate, type FilterSubject } from '../../../storage/app/filter/evaluate.ts';
import { decideEarly } from '../../../storage/app/filter/fold.ts';
import { WorkBudget } from '../../../storage/app/filter/work-budget.ts';
import { type Access, type CanSee, canSeeCheck, rulePredicate } from '../../rules/access.ts';
import { compileCallerFilter, refuseCostly } from '../../rules/caller-filter.ts';
import { compiledRule, mentionsNow, requestMembers } from '../../rules/compile.ts';
import type { AuthorizedView } from '../ports.ts';
import { mergeParts, type RelatedReader } from './related-reads.ts';
import { asFilterRecord } from './related.ts';
import { exactTopic } from '../topic.ts';

/** A collection and the app that it is in. */
export interface Target {
  app: AppDefinition;
  collection: CollectionDefinition;
}

/** What a view is made of, besides its rule. */
export interface ViewOptions {
  /** Empty: none. */
  filter: string;
  now: () => Date;
  /** Reads related records as the target's definitions have them. */
  reader: RelatedReader;
  /** Different for each reader. */
  version: number;
}

/** The rule or the filter. */
interface Check {
  parts: Map<string, RelatedPart>;
  /** What it reads of the caller and the query: see `membersOf`. */
  members: ReadonlySet<string>;
  /** Columns of the record that it reads. */
  columns: ReadonlySet<string>;
  /** `at` is when it is asked, in milliseconds since 1970. */
  passes(subject: FilterSubject, at: number): boolean;
}

/** The view of a caller whom the rule lets in. Throws `400` for the filter. */
export function authorizedView(
  target: Target,
  access: Access,
  { filter, now, reader, version }: ViewOptions,
): AuthorizedView {
  const { app, collection } = target;
  const rule = checkOfRule(target, access);
  const narrowing = filter === '' ? undefined : checkOfFilter(target, access, filter);
  const judges = [rule, narrowing].filter((judge) => judge !== undefined);
  const parts = new Map<string, RelatedPart>();
  for (const judge of judges) mergeParts(parts, judge.parts);
  const related = parts.size === 0 ? [] : [version, access.unbounded];
  return {
    key: keyOf(access, judges, [
      collection.version,
      rule === undefined ? null : collection.rules.list,
      filter,
      ...related,
    ]),
    incarnation: exactTopic(app, collection).incarnation,
    related: parts.size === 0 ? undefined : { reader, parts },
    passes: (change, follow) => {
      if (judges.length === 0) return true;
      const { custom } = change;
      if (custom !== undefined && !judges.every(({ columns }) => columns.isSubsetOf(custom.fields))) {
        return false;
      }
      const related = (hops: string) => follow(change, hops);
      const subject: FilterSubject = {
        record: asFilterRecord(change.record),
        related,
        budget: new WorkBudget(),
      };
      // As of now and not of the write: a record that has expired by the time of a replay stays hidden.
      const at = now().getTime();
      return judges.every((judge) => judge.passes(subject, at));
    },
  };
}

/** Undefined when the rule has nothing left to ask. It looks wherever it says. */
function checkOfRule(target: Target, access: Access): Check | undefined {
  const { condition } = compiledRule(target.app, target.collection, 'list');
  if (access.unbounded || isSettled(condition, access.request)) return undefined;
  return {
    parts: relatedParts(condition),
    members: requestMembers(condition),
    columns: ownColumns(condition),
    passes: rulePredicate(access, target),
  };
}

/** A caller's own filter looks through relations only at what the caller may read, as on lists. */
function checkOfFilter(target: Target, access: Access, filter: string): Check {
  const { app, collection } = target;
  const condition = compileCallerFilter(app, collection, filter);
  const parts = relatedParts(condition);
  const sight = canSeeCheck(access, app);
  if (sight !== undefined) refuseCostly(app, condition);
  const glances = sight === undefined ? undefined : new VisibleRelated(parts, sight);
  const predicate = compilePredicate(condition);
  return {
    ...(sight === undefined ? { parts, members: requestMembers(condition) } : guarded(app, condition, parts)),
    columns: ownColumns(condition),
    passes: (subject, at) => {
      const seen = glances === undefined ? subject : glances.narrow(subject, at);
      return predicate(seen, { ...access.request, body: {}, now: at }) === true;
    },
  };
}

/** What a filter reads together with the rules that say what it may look at. */
function guarded(
  app: AppDefinition,
  condition: Condition,
  parts: ReadonlyMap<string, RelatedPart>,
): Pick<Check, 'parts' | 'members'> {
  const all = new Map(parts);
  const members = requestMembers(condition);
  for (const { hops } of parts.values()) {
    const target = hops.at(-1)?.target ?? '';
    const collection = app.collections.get(target);
    // Of the users, callers may look at themselves.
    if (collection === undefined) members.add('auth.id');
    else {
      const rule = compiledRule(app, collection, 'get').condition;
      mergeParts(all, relatedParts(rule, hops));
      for (const name of requestMembers(rule)) members.add(name);
    }
  }
  return { parts: all, members };
}

/** A related record on the way to another, and its collection. */
interface Step {
  name: string;
  target: string;
}

/** Related records as far as a caller may look at each one on the way to them. */
class VisibleRelated {
  readonly #canSee: CanSee;
  readonly #ways: ReadonlyMap<string, readonly Step[]>;

  constructor(parts: ReadonlyMap<string, RelatedPart>, sight: CanSee) {
    this.#canSee = sight;
    this.#ways = new Map(
      parts.entries().map(([name, { hops }]) => [
        name,
        hops.map(({ target }, index) => ({ name: hopPath(hops.slice(0, index + 1)), target })),
      ]),
    );
  }

  narrow(subject: FilterSubject, at: number): FilterSubject {
    const { related: follow = () => undefined, budget: patience } = subject;
    const known = new Map<string, boolean>();
    const isSeen = ({ name, target }: Step) => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const record = follow(name);
      const related = (rest: string) => follow(`${name}.${rest}`);
      const seen = record !== undefined && this.#canSee(target, { record, related, budget: patience }, at);
      known.set(name, seen);
      return seen;
    };
    return {
      record: subject.record,
      budget: patience,
      related: (hops) => this.#ways.get(hops)?.every(isSeen) === true ? follow(hops) : undefined,
    };
  }
}

/** Whether a rule that has let the caller in has nothing left to ask, now or later. */
function isSettled(rule: Condition, request: Access['request']): boolean {
  return !mentionsNow(rule) && decideEarly(rule, request) === true;
}

/** Names of the principal and the query only what is read of them. */
function keyOf({ request }: Access, judges: readonly Check[], parts: readonly unknown[]): string {
  const members = new Set(judges.flatMap((judge) => [...judge.members]));
  const read = new Map<string, unknown>();
  for (const [part, values] of Object.entries({ auth: request.auth ?? {}, query: request.query })) {
    for (const [name, value] of Object.entries(values)) read.set(`${part}.${name}`, value);
  }
  return JSON.stringify([...parts, [...members].map((name) => [name, read.get(name) ?? null])]);
}
