// Access rules in responses.
import type { Action, AppDefinition, CollectionDefinition, Template } from '../../storage/definition.ts';
import { type Page, type PageRequest, slicePage } from '../../storage/sql/page.ts';
import { described, nullable, object, oneOf, optional, pageSchema, string } from '../contract/schema.ts';
import { actions, compiledRule, ruleSetting, templates } from './compile.ts';

/** The schema of a rule. */
export const ruleResponse = object({
  collection: string(),
  action: oneOf(actions),
  template: oneOf(templates),
  filter: described(nullable(string()), 'Null unless the template is `filter`.'),
  broken: optional(
    described(
      string(),
      'Present only when the filter cannot be used, for example since it names something that no longer exists; says why. The rule then allows admins only.',
    ),
  ),
});

/** The schema of a page of rules. */
export const rulesResponse = pageSchema(ruleResponse);

/** A rule in a response. */
export interface RuleResponse {
  collection: string;
  action: Action;
  template: Template;
  filter: string | null;
  broken?: string;
}

/** The rules of all five actions, defaults included. */
export function showRules(
  app: AppDefinition,
  collection: CollectionDefinition,
  page: PageRequest,
): Page<RuleResponse> {
  const rules = actions.map((action) => {
    const { template, filter } = ruleSetting(collection, action);
    const { broken } = compiledRule(app, collection, action);
    return {
      collection: collection.id,
      action,
      template,
      filter,
      ...(broken === undefined ? {} : { broken }),
    };
  });
  return slicePage(rules, page);
}
