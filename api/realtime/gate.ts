// Who may see which events: the `list` rule of the collection, the subscriber's own filter, and what is left of its token.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { type Condition, relatedIn } from '../../storage/filter/condition.ts';
import { compile, type FilterRecord } from '../../storage/filter/evaluate.ts';
import { decideEarly } from '../../storage/filter/fold.ts';
import type { DefinitionCache } from '../collections/cache.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { type Access, admit, predicateOf } from '../rules/access.ts';
import { conditionOfFilter } from '../rules/caller-filter.ts';
import { authMembersOf, mentionsNow, ruleOf } from '../rules/compile.ts';
import { decide, type Principal } from '../scope.ts';
import type { Gate, TokenState, View, Wish } from './ports.ts';
import type { Place } from './topic.ts';

/** What the gate asks. */
export type GateDeps = Pick<Deps, 'databases' | 'tokens' | 'now'> & { definitions: DefinitionCache };

type Target = { app: AppDefinition; collection: CollectionDefinition };

/** The gate of a server's own rules and tokens. */
export class RuleGate implements Gate {
  readonly #deps: GateDeps;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  async open({ topic, principal, filter }: Wish): Promise<View> {
    const target = await this.#find(topic.workspace, topic.app, topic.collection);
    const query: Record<string, string> = filter === undefined ? {} : { filter };
    const access = await admit(this.#deps, target, 'list', { principal, now: this.#deps.now(), query });
    return viewOf(target, access, { filter: filter ?? '', now: this.#deps.now });
  }

  tokenState(principal: Principal, place: Place): TokenState {
    if (this.#deps.now().getTime() >= principal.expiresAt * 1_000) return 'expired';
    const left = this.#deps.tokens.current(principal);
    return left !== undefined && decide('member', left, place) === 'allow' ? 'good' : 'revoked';
  }

  onDefinitionChange(listener: Parameters<Gate['onDefinitionChange']>[0]): () => void {
    return this.#deps.definitions.onForget(listener);
  }

  async #find(workspace: string, id: string, name: string): Promise<Target> {
    const { definitions } = this.#deps;
    const app = definitions.peekApp(workspace, id) ?? await definitions.app(workspace, id) ??
      fail('app_not_found', `app "${id}" does not exist`);
    const collection = app.collections.get(name) ?? fail('not_found', `collection "${name}" does not exist`);
    return { app, collection };
  }
}

interface Asked {
  /** Empty: none. */
  filter: string;
  now: () => Date;
}

function viewOf(target: Target, access: Access, { filter, now }: Asked): View {
  const { app, collection } = target;
  const { condition: rule } = ruleOf(app, collection, 'list');
  const isRuled = !access.unbounded && !isSettled(rule, access.request);
  if (isRuled && needsOthers(rule)) {
    fail('forbidden', 'the list rule of this collection follows relations, which a stream cannot');
  }
  const condition = filter === '' ? undefined : conditionOfFilter(app, collection, filter);
  if (condition !== undefined && needsOthers(condition)) {
    fail('validation', 'filter: a stream cannot follow relations');
  }
  const passesRule = predicateOf(access, target);
  const passesFilter = condition === undefined ? undefined : compile(condition);
  const asked = [...(isRuled ? [rule] : []), ...(condition === undefined ? [] : [condition])];
  return {
    key: keyOf(access, asked, [collection.version, isRuled ? collection.rules.list : null, filter]),
    incarnation: [app.workspace.database, app.schema, collection.id, collection.created_at.getTime()].join(
      '/',
    ),
    passes: ({ record }) => {
      if (asked.length === 0) return true;
      if (!isShown(record)) throw new TypeError('what was published is no record');
      // As of now and not of the write: a record that has expired by the time of a replay stays hidden.
      const at = now().getTime();
      if (isRuled && !passesRule({ record }, at)) return false;
      if (passesFilter === undefined) return true;
      return passesFilter({ record }, { ...access.request, body: {}, now: at }) === true;
    },
  };
}

/** Whether a rule that has let the caller in has nothing left to ask, now or later. */
function isSettled(rule: Condition, request: Access['request']): boolean {
  return !mentionsNow(rule) && decideEarly(rule, request) === true;
}

/** Whether a condition looks at other records, which memory does not hold. Missing, they would count as empty, not as hidden. */
function needsOthers(condition: Condition): boolean {
  return relatedIn(condition).size > 0;
}

/** Names of the principal only what the conditions read. */
function keyOf({ request }: Access, asked: readonly Condition[], parts: readonly unknown[]): string {
  const members = new Set(asked.flatMap((condition) => [...authMembersOf(condition)]));
  const auth: Readonly<Record<string, string | undefined>> = { ...request.auth };
  return JSON.stringify([...parts, [...members].sort().map((name) => [name, auth[name] ?? null])]);
}

function isShown(record: object): record is FilterRecord {
  return 'id' in record && typeof record.id === 'string' &&
    'fields' in record && typeof record.fields === 'object' && record.fields !== null &&
    'created_at' in record && typeof record.created_at === 'string' &&
    'updated_at' in record && typeof record.updated_at === 'string';
}
