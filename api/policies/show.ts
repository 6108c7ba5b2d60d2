// Policies as they are answered: what a level has set, and what holds there.
import { type Page, type PageRequest, slicePage } from '../../storage/sql/page.ts';
import type { Config } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import {
  described,
  fieldMap,
  list,
  nullable,
  object,
  oneOf,
  pageSchema,
  text,
  timestamp,
  type ValueOf,
} from '../contract/schema.ts';
import type { TenantPath } from '../scope.ts';
import type { Entry } from './cache.ts';
import { boundOf, definitionOf, levelOf, serverSpec } from './chain.ts';
import { longestField } from './checked-spec.ts';
import { policyDefinitions } from './definitions.ts';
import { policySpec } from './stored.ts';

const policyMembers = {
  field: text(),
  scope: oneOf(['system', 'workspace', 'app']),
  spec: described(nullable(policySpec), 'The value that this level has set.'),
  effective: described(policySpec, 'The value in effect here, with every level above applied.'),
  set_by: described(
    fieldMap('By member of `effective`.'),
    'The level that each part of `effective` comes from: server, system, workspace or app.',
  ),
  updated_at: described(
    nullable(timestamp()),
    'When this level was last set; null if it has set nothing.',
  ),
};

/** One policy of one level. */
export const policyAnswer = object(policyMembers);

/** A list of them. */
export const policiesAnswer = pageSchema(policyAnswer);

/** What a PUT changed below. */
const cascadedAnswer = list(object({
  scope: oneOf(['workspace', 'app']),
  workspace: text(),
  app: nullable(text()),
  field: text(),
  from: policySpec,
  to: policySpec,
}));

/** The answer to a PUT. */
export const policyPutAnswer = object({ ...policyMembers, cascaded: cascadedAnswer });

/** A policy as `policyAnswer` describes it. */
export type PolicyAnswer = ValueOf<typeof policyAnswer>;

type ShowDeps = Pick<Deps, 'config' | 'policyBook'>;

/** One field at a level. Throws `404 not_found` for a field without meaning that nobody has set. */
export async function showPolicy(
  { config, policyBook }: ShowDeps,
  at: TenantPath,
  field: string,
): Promise<PolicyAnswer> {
  return answerOf(config, { field, scope: levelOf(at) }, await policyBook.levels(field, at));
}

/** Every field with a meaning, and every other that this level or one above it has set, by name. */
export async function listPolicies(
  { config, policyBook }: ShowDeps,
  at: TenantPath,
  page: PageRequest,
): Promise<Page<PolicyAnswer>> {
  const names = [...(await policyBook.fields(at)).union(new Set(Object.keys(policyDefinitions)))].sort();
  const slice = slicePage(names, page);
  const found = await Promise.all(slice.items.map(async (field) => {
    const entries = await policyBook.levels(field, at);
    // It may have been removed since the names were read.
    if (entries.length === 0 && definitionOf(field) === undefined) return [];
    return [answerOf(config, { field, scope: levelOf(at) }, entries)];
  }));
  return { ...slice, items: found.flat() };
}

/** A field at a level, of what the levels down to it have set. Throws as `showPolicy`. */
export function answerOf(
  config: Config,
  { field, scope }: Pick<PolicyAnswer, 'field' | 'scope'>,
  entries: readonly Entry[],
): PolicyAnswer {
  const definition = definitionOf(field);
  const server = definition === undefined
    ? []
    : [{ level: 'server' as const, spec: serverSpec(definition, config) }];
  const bound = boundOf([...server, ...entries]) ??
    fail('not_found', `policy "${field.slice(0, longestField)}" is not set`);
  const own = entries.find(({ level }) => level === scope);
  return {
    field,
    scope,
    spec: own?.spec ?? null,
    effective: bound.spec,
    set_by: bound.setBy,
    updated_at: own?.updatedAt ?? null,
  };
}
