// The definition of an app as one document: what its author has made, without records, users and values of variables.
import type {
  AccessRule,
  Action,
  CollectionDefinition,
  CollectionIndex,
  CollectionKind,
  Field,
} from '../../storage/definition.ts';
import { array, described, integer, object, oneOf, optional, string } from '../contract/schema.ts';
import { fieldResponse } from '../collections/declaration/define.ts';
import { indexesSchema } from '../collections/declaration/indexes.ts';
import { showCollection } from '../collections/response.ts';
import type { PolicySpec } from '../policies/spec.ts';
import { policySpec } from '../policies/stored.ts';
import { actions, ruleSetting, templates } from '../rules/compile.ts';

/** The version of the document's form. */
export const documentVersion = 1;

/** A rule of the document. `filter` is left out unless the template is `filter`. */
export interface RuleDocument {
  template: AccessRule['template'];
  filter?: string | undefined;
}

/** A collection of the document. */
export interface CollectionDocument {
  id: string;
  kind: CollectionKind;
  /** Of a view, which has no fields here: they are the columns of the query. */
  query?: string | undefined;
  language?: string | undefined;
  fields?: Field[] | undefined;
  indexes?: CollectionIndex[] | undefined;
  rules: Readonly<Partial<Record<Action, RuleDocument>>>;
}

/** A policy of the document, as the app has set it. */
export interface PolicyDocument {
  field: string;
  spec: PolicySpec;
}

/** A hook file of the document. */
export interface HookDocument {
  filename: string;
  source: string;
}

/** The definition of an app. All lists but those of fields and indexes are in the order of names. */
export interface DefinitionDocument {
  version: number;
  collections: CollectionDocument[];
  policies: PolicyDocument[];
  hooks: HookDocument[];
  variables: string[];
}

const rule = object({ template: oneOf(templates), filter: optional(string()) });

/** The schema of the rules of a collection. */
const rulesSchema = object({
  list: optional(rule),
  get: optional(rule),
  create: optional(rule),
  update: optional(rule),
  delete: optional(rule),
});

/** The schema of the policies. */
const policiesSchema = array(object({ field: string(), spec: policySpec }));

/** The schema of the hook files. */
const hooksSchema = array(object({ filename: string(), source: string() }));

/** The schema of the document in a response. */
export const documentResponse = object({
  version: integer({ min: documentVersion, max: documentVersion }),
  collections: array(object({
    id: string(),
    kind: oneOf(['base', 'auth', 'view']),
    query: described(optional(string()), 'Of views, which have no `fields` here.'),
    language: optional(string()),
    fields: optional(array(fieldResponse)),
    indexes: described(optional(indexesSchema), 'Left out when there are none.'),
    rules: described(rulesSchema, 'Of all actions; of a view, of `list` and `get`.'),
  })),
  policies: optional(described(policiesSchema, 'Left out for a key without the scope `policies:read`.')),
  hooks: optional(described(hooksSchema, 'Left out for a key without the scope `hooks:read`.')),
  variables: optional(
    described(
      array(string()),
      'Names of the variables of hooks, without their values. Left out like `hooks`.',
    ),
  ),
});

/** A collection as the document has it. */
export function collectionDocument(collection: CollectionDefinition): CollectionDocument {
  const { id, kind, query, language, fields, indexes } = showCollection(collection).schema;
  const ofKind = kind === 'view' ? actions.filter((action) => isOfViews(action)) : actions;
  return {
    id,
    kind,
    ...(query === undefined ? {} : { query }),
    ...(language === undefined ? {} : { language }),
    ...(kind === 'view' ? {} : { fields }),
    ...(indexes === undefined ? {} : { indexes }),
    rules: Object.fromEntries(
      ofKind.map((action) => [action, ruleDocument(ruleSetting(collection, action))]),
    ),
  };
}

/** True for an action that views have a rule for. */
function isOfViews(action: Action): boolean {
  return action === 'list' || action === 'get';
}

/** The parts of a definition that a caller may read. */
export function visibleTo(
  { policies, hooks, variables, ...rest }: DefinitionDocument,
  may: (scope: 'policies:read' | 'hooks:read') => boolean,
): Partial<DefinitionDocument> & Pick<DefinitionDocument, 'version' | 'collections'> {
  return {
    ...rest,
    ...(may('policies:read') ? { policies } : {}),
    ...(may('hooks:read') ? { hooks, variables } : {}),
  };
}

function ruleDocument({ template, filter }: AccessRule): RuleDocument {
  return filter === null ? { template } : { template, filter };
}

/** The order of names: by code unit, whatever the language of the database is. */
export function byName<Item>(nameOf: (item: Item) => string): (one: Item, other: Item) => number {
  return (one, other) => nameOf(one) < nameOf(other) ? -1 : 1;
}
