// Decides which events a subscriber may see: by the `list` rule, its own filter and its token.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { DefinitionCache } from '../../collections/cache.ts';
import type { Deps } from '../../deps.ts';
import { type Access, admit } from '../../rules/access.ts';
import { decideScope, type Principal } from '../../scope.ts';
import { fail } from '../../errors.ts';
import { failNoCollection, findApp } from '../../target.ts';
import type {
  AuthorizedView,
  RealtimeGate,
  Reauthorization,
  SubscribeRequest,
  TokenState,
} from '../ports.ts';
import { DatabaseReader } from './related.ts';
import { BatchedCallers } from './batched-callers.ts';
import { authorizedView, type Target } from './rule-view.ts';
import type { AppPath } from '../topic.ts';

/** The dependencies of the gate. */
export interface GateDeps {
  databases: Pick<Deps['databases'], 'app' | 'control'>;
  definitions: Pick<DefinitionCache, 'app' | 'workspace' | 'onInvalidate'>;
  tokens: Pick<Deps['tokens'], 'current'>;
  now: Deps['now'];
}

/** The gate of the access rules and access tokens. */
export class RuleGate implements RealtimeGate {
  readonly #deps: GateDeps;
  /** One reader for each version of an app's definitions, shared by all views of that version. */
  readonly #readers = new WeakMap<AppDefinition, { reader: DatabaseReader; version: number }>();
  readonly #callers = new WeakMap<Reauthorization, BatchedCallers>();
  #versions = 0;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  async authorize(request: SubscribeRequest, reauthorization?: Reauthorization): Promise<AuthorizedView> {
    const { target, access } = await this.#admit(request, reauthorization);
    const read = this.#readerOf(target.app);
    const view = authorizedView(target, access, {
      filter: request.filter ?? '',
      now: this.#deps.now,
      ...read,
    });
    return { ...view, facts: access.facts };
  }

  async facts(request: SubscribeRequest, reauthorization: Reauthorization): Promise<string | undefined> {
    return (await this.#admit(request, reauthorization)).access.facts;
  }

  tokenState(principal: Principal, place: AppPath): TokenState {
    if (this.#deps.now().getTime() >= principal.expiresAt * 1_000) return 'expired';
    const left = this.#deps.tokens.current(principal);
    return left !== undefined && decideScope('member', left, place) === 'allow' ? 'good' : 'revoked';
  }

  onDefinitionChange(listener: Parameters<RealtimeGate['onDefinitionChange']>[0]): () => void {
    return this.#deps.definitions.onInvalidate(listener);
  }

  async #admit(
    { topic, principal, query, filter }: SubscribeRequest,
    reauthorization: Reauthorization | undefined,
  ): Promise<{ target: Target; access: Access }> {
    const target = await this.#find(topic.workspace, topic.app, topic.collection);
    const { databases, now } = this.#deps;
    const deps = { databases, callers: reauthorization && this.#callersOf(reauthorization) };
    const asking = { principal, now: now(), query: filter === undefined ? query : { ...query, filter } };
    const access = await admit(deps, target, 'list', asking);
    const { id, kind } = target.collection;
    if (kind === 'view') fail('validation', `"${id}" is a view, which has no events`);
    return { target, access };
  }

  #readerOf(app: AppDefinition): { reader: DatabaseReader; version: number } {
    let known = this.#readers.get(app);
    if (known === undefined) {
      known = { reader: new DatabaseReader(this.#deps, app), version: ++this.#versions };
      this.#readers.set(app, known);
    }
    return known;
  }

  #callersOf(reauthorization: Reauthorization): BatchedCallers {
    const callers = this.#callers.get(reauthorization) ??
      new BatchedCallers(this.#deps.databases, reauthorization);
    this.#callers.set(reauthorization, callers);
    return callers;
  }

  async #find(workspace: string, id: string, name: string): Promise<Target> {
    const app = await findApp(this.#deps.definitions, workspace, id);
    const collection = app.collections.get(name) ?? failNoCollection(name);
    return { app, collection };
  }
}
