// Sets and resets access rules, under the lock of the app's collections and with an audit entry.
import { deleteAccessRule, putAccessRule } from '../../storage/app/access-rules.ts';
import type { AccessRule, Action, CollectionDefinition, Template } from '../../storage/definition.ts';
import type { Caller } from '../audit/actor.ts';
import { changeCollections, type ChangeDeps } from '../collections/change.ts';
import { fail, failValidation } from '../errors.ts';
import type { RuleResponse } from './response.ts';
import { failNoCollection } from '../target.ts';
import type { RuledTarget } from './access.ts';
import { withFilterErrors } from './caller-filter.ts';
import { actions, compileFilter } from './compile.ts';

/** The body of a request that sets a rule. */
export interface RuleInput {
  template: Template;
  filter?: string | null | undefined;
}

/** The action of the rule, as the path names it, and the caller. */
export interface RuleChange {
  action: string;
  by: Caller;
}

/**
 * Sets a rule. Throws `400 parse_error` or `unknown_column` for its filter, `400 validation` where the filter is missing or
 * out of place, `404` for an action that does not exist.
 */
export async function putRule(
  deps: ChangeDeps,
  { app, collection: { id } }: RuledTarget,
  input: RuleInput,
  change: RuleChange,
): Promise<RuleResponse> {
  const action = requireAction(change.action);
  const rule = ruleIn(input);
  return await changeCollections(deps, app, {
    by: change.by,
    ofTables: false,
    work: async ({ sql, schema, collections, audit }) => {
      const collection = collections.get(id) ?? failNoCollection(id);
      refuseWriteRule(collection, action);
      if (rule.filter !== null) {
        withFilterErrors(() => compileFilter({ ...app, collections }, collection, rule.filter ?? ''));
      }
      await putAccessRule(sql, schema, { collection: id, action, ...rule, now: change.by.now });
      await audit('rule_set', `${id}.${action}`, { ...rule, from: collection.rules[action] ?? null });
      return { collection: id, action, ...rule };
    },
  });
}

/** Resets a rule to the default: admins only. Throws `404` for an action that does not exist. */
export async function resetRule(
  deps: ChangeDeps,
  { app, collection: { id } }: RuledTarget,
  change: RuleChange,
): Promise<{ ok: true }> {
  const action = requireAction(change.action);
  return await changeCollections(deps, app, {
    by: change.by,
    ofTables: false,
    work: async ({ sql, schema, collections, audit }) => {
      const { rules } = collections.get(id) ?? failNoCollection(id);
      await deleteAccessRule(sql, schema, { collection: id, action });
      await audit('rule_reset', `${id}.${action}`, { from: rules[action] ?? null });
      return { ok: true };
    },
  });
}

/** The action of a name. Throws `404` when there is none. */
export function requireAction(name: string): Action {
  return actions.find((action) => action === name) ??
    fail('not_found', `there is no action "${name.slice(0, 100)}"; there are ${actions.join(', ')}`);
}

/** Throws `400 validation` for a rule of writes of a view. */
function refuseWriteRule({ id, kind }: CollectionDefinition, action: Action): void {
  if (kind !== 'view' || action === 'list' || action === 'get') return;
  failValidation([{ field: 'action', reason: `"${id}" is a view, which has rules for list and get` }]);
}

function ruleIn({ template, filter = null }: RuleInput): AccessRule {
  if (template === 'filter' && filter === null) {
    failValidation([{ field: 'filter', reason: 'is required with this template', code: 'required' }]);
  }
  if (template !== 'filter' && filter !== null) {
    failValidation([{ field: 'filter', reason: `the template "${template}" has none` }]);
  }
  return { template, filter };
}
