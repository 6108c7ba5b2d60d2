// Access rules of a collection.
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { declaredOnly } from '../collections/response.ts';
import { ruleResponse, rulesResponse, showRules } from '../rules/response.ts';
import { putRule, requireAction, resetRule } from '../rules/change.ts';
import { templates } from '../rules/compile.ts';
import { described, nullable, object, okResponse, oneOf, optional, string } from '../contract/schema.ts';

/** Lists the rules of all actions. */
export const accessRulesShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/access_rules',
  summary: 'Returns the access rules of a collection, one for each action.',
  scope: 'app_admin',
  key: 'definition:read',
  query: object(pageQueryMembers),
  status: 200,
  response: rulesResponse,
  handle: ({ target, query }) => showRules(target.app, declaredOnly(target.collection), toPageRequest(query)),
});

/** Sets the rule of an action. */
export const accessRulesPut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/access_rules/:action',
  summary: 'Sets the access rule of an action: list, get, create, update or delete.',
  scope: 'app_admin',
  key: 'definition:write',
  body: object({
    template: oneOf(templates),
    filter: described(optional(nullable(string())), 'A filter expression; with the template `filter` only.'),
  }),
  status: 200,
  response: ruleResponse,
  errors: ['parse_error', 'unknown_column'],
  requireTarget: ({ params: { action } }) => requireAction(action),
  handle: ({ deps, target, body, params: { action }, principal, origin, now }) =>
    putRule(deps, target, body, { action, by: { principal, origin, now } }),
});

/** Puts the default rule of an action back. */
export const accessRulesReset = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll/access_rules/:action',
  summary: 'Resets the access rule of an action to the default: admins only.',
  scope: 'app_admin',
  key: 'definition:write',
  status: 200,
  response: okResponse,
  handle: ({ deps, target, params: { action }, principal, origin, now }) =>
    resetRule(deps, target, { action, by: { principal, origin, now } }),
});
