// The view of a subscriber on a collection: its `list` rule and the subscriber's own filter, compiled to one predicate.
import type { AppDefinition, CollectionDefinition } from '../../../storage/definition.ts';
import {
  asksForMany,
  type Condition,
  hopPath,
  isOwnStep,
  ownColumns,
  type RelatedPart,
  relatedParts,
  stepsIn,
} from '../../../storage/app/filter/condition.ts';
import { compilePredicate, type FilterSubject } from '../../../storage/app/filter/evaluate.ts';
import { decideEarly, fold } from '../../../storage/app/filter/fold.ts';
import type { Restriction } from '../../../storage/app/records/restriction.ts';
import { WorkBudget } from '../../../storage/app/filter/work-budget.ts';
import { type Access, rulePredicate } from '../../rules/access.ts';
import { type CanSee, canSeeCheck, relatedGuard, requireReachable } from '../../rules/related.ts';
import { compileCallerFilter, refuseCostly } from '../../rules/caller-filter.ts';
import { compiledRule, mentionsNow, requestMembers } from '../../rules/compile.ts';
import type { AuthorizedView } from '../ports.ts';
import { mergeParts, type RelatedQuery, type RelatedReader } from './related-reads.ts';
import { asFilterRecord } from './published-records.ts';
import { exactTopic } from '../topic.ts';
import { viewKey } from './view-key.ts';

/** A collection and the app that it is in. */
export interface Target {
  app: AppDefinition;
  collection: CollectionDefinition;
}

/** The parts of a view besides its rule. */
export interface ViewOptions {
  /** The subscriber's filter; empty when there is none. */
  filter: string;
  now: () => Date;
  /** Reads related records by the definitions of the target. */
  reader: RelatedReader;
  /** The number of the reader, for the key of the view. */
  version: number;
}

/** The predicate of the rule or the filter. */
interface Check {
  parts: Map<string, RelatedPart>;
  /** The members of the caller and the query that it reads: see `requestMembers`. */
  members: ReadonlySet<string>;
  /** Columns of the record that it reads. */
  columns: ReadonlySet<string>;
  /** True when it asks for related records of which there may be many, so that `restriction` decides, and not `passes`. */
  asksForMany: boolean;
  /** `at` is the time of evaluation, in milliseconds since 1970. */
  passes(subject: FilterSubject, at: number): boolean;
  /** The same in the database. */
  restriction(at: number): Restriction;
}

/** The view of a caller whom the rule admits. Throws `400` for the filter. */
export function authorizedView(
  target: Target,
  access: Access,
  { filter, now, reader, version }: ViewOptions,
): AuthorizedView {
  const { app, collection } = target;
  const rule = checkOfRule(target, access);
  const narrowing = filter === '' ? undefined : checkOfFilter(target, access, filter);
  const checks = [rule, narrowing].filter((check) => check !== undefined);
  const query = relatedQuery(target, checks, reader);
  const read = new Set(checks.flatMap(({ members }) => [...members]));
  const key = viewKey(access.request, read, [
    collection.version,
    rule === undefined ? null : collection.rules.list,
    filter,
    ...query === undefined ? [] : [version, access.unbounded],
  ]);
  return {
    key,
    incarnation: exactTopic(app, collection).incarnation,
    related: query,
    passes: (change, read) => {
      if (checks.length === 0) return true;
      const { custom } = change;
      if (custom !== undefined && !checks.every(({ columns }) => columns.isSubsetOf(custom.fields))) {
        return false;
      }
      if (query?.decided !== undefined) return read.passes(change, key);
      const related = (hops: string) => read.follow(change, hops);
      const subject: FilterSubject = {
        record: asFilterRecord(change.record),
        related,
        budget: new WorkBudget(),
      };
      // The time of delivery and not of the write: in a replay, a record that has expired since stays hidden.
      const at = now().getTime();
      return checks.every((check) => check.passes(subject, at));
    },
  };
}

/** The related records that the checks read; where one asks for many, the database decides all of them instead. */
function relatedQuery(
  { collection }: Target,
  checks: readonly Check[],
  reader: RelatedReader,
): RelatedQuery | undefined {
  const parts = new Map<string, RelatedPart>();
  if (checks.some(({ asksForMany }) => asksForMany)) {
    const columns = new Set(checks.flatMap((check) => [...check.columns]));
    const at = (now: number) => checks.map((check) => check.restriction(now));
    return { reader, parts, decided: { collection, columns, at } };
  }
  for (const check of checks) mergeParts(parts, check.parts);
  return parts.size === 0 ? undefined : { reader, parts };
}

/** The check of the rule, which may read all related records. Undefined when the rule passes every record. */
function checkOfRule(target: Target, access: Access): Check | undefined {
  const { condition } = compiledRule(target.app, target.collection, 'list');
  if (access.unbounded || isSettled(condition, access.request)) return undefined;
  const passes = rulePredicate(access, target);
  return {
    parts: relatedParts(condition),
    members: requestMembers(condition),
    columns: ownColumns(condition),
    asksForMany: asksForMany(condition),
    passes,
    restriction: (at) => ({ residue: fold(condition, { ...access.request, body: {}, now: at }) }),
  };
}

/** The check of a caller's own filter, which reads only related records that the caller may read, as on lists. */
function checkOfFilter(target: Target, access: Access, filter: string): Check {
  const { app, collection } = target;
  const condition = compileCallerFilter(app, collection, filter);
  requireReachable(access, app, condition);
  const parts = relatedParts(condition);
  const canSee = canSeeCheck(access, app);
  if (canSee !== undefined) refuseCostly(app, condition);
  const visible = canSee === undefined ? undefined : new VisibleRelated(parts, canSee);
  const predicate = compilePredicate(condition);
  const request = (now: number) => ({ ...access.request, body: {}, now });
  return {
    ...(canSee === undefined
      ? { parts, members: requestMembers(condition), asksForMany: asksForMany(condition) }
      : guarded(app, condition, parts)),
    columns: ownColumns(condition),
    passes: (subject, at) => {
      const seen = visible === undefined ? subject : visible.narrow(subject, at);
      return predicate(seen, request(at)) === true;
    },
    restriction: (at) => {
      const guard = relatedGuard({ ...access, request: { ...access.request, now: at } }, app);
      return { residue: fold(condition, request(at)), ...guard && { guard } };
    },
  };
}

/** The reads of a filter together with those of the rules that protect its related records. */
function guarded(
  app: AppDefinition,
  condition: Condition,
  parts: ReadonlyMap<string, RelatedPart>,
): Pick<Check, 'parts' | 'members' | 'asksForMany'> {
  const all = new Map(parts);
  for (const { hops } of parts.values()) {
    const collection = app.collections.get(hops.at(-1)?.target ?? '');
    if (collection !== undefined) {
      mergeParts(all, relatedParts(compiledRule(app, collection, 'get').condition, hops));
    }
  }
  const members = requestMembers(condition);
  let many = asksForMany(condition);
  for (
    const target of new Set(stepsIn(condition).filter((step) => !isOwnStep(step)).map(({ target }) => target))
  ) {
    const collection = app.collections.get(target);
    // Of `users`, a caller may see only itself.
    if (collection === undefined) members.add('auth.id');
    else {
      const rule = compiledRule(app, collection, 'get').condition;
      for (const name of requestMembers(rule)) members.add(name);
      many ||= asksForMany(rule);
    }
  }
  return { parts: all, members, asksForMany: many };
}

/** A related record on the way to another, and its collection. */
interface Step {
  name: string;
  target: string;
}

/** Hides related records unless the caller may see each record on the way to them. */
class VisibleRelated {
  readonly #canSee: CanSee;
  readonly #ways: ReadonlyMap<string, readonly Step[]>;

  constructor(parts: ReadonlyMap<string, RelatedPart>, canSee: CanSee) {
    this.#canSee = canSee;
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

/** True when a rule that admits the caller passes every record, now and later. */
function isSettled(rule: Condition, request: Access['request']): boolean {
  return !mentionsNow(rule) && decideEarly(rule, request) === true;
}
