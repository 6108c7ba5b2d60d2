// Policies as responses show them: the spec that a level has set, and the one in effect.
import { type Page, type PageRequest, slicePage } from '../../storage/sql/page.ts';
import type { Config } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import {
  array,
  described,
  fieldMap,
  nullable,
  object,
  oneOf,
  pageSchema,
  string,
  timestamp,
  type ValueOf,
} from '../contract/schema.ts';
import type { TenantPath } from '../scope.ts';
import type { PolicyEntry } from './cache.ts';
import { combineLevels, findDefinition, initialSpec, levelName, serverSpec } from './chain.ts';
import { maxFieldLength } from './checked-spec.ts';
import { policyDefinitions } from './definitions.ts';
import { policySpec } from './stored.ts';

const policyMembers = {
  field: string(),
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
export const policyResponse = object(policyMembers);

/** A page of policies of one level. */
export const policyListResponse = pageSchema(policyResponse);

/** The policies below that a PUT has clamped. */
const cascadedResponse = array(object({
  scope: oneOf(['workspace', 'app']),
  workspace: string(),
  app: nullable(string()),
  field: string(),
  from: policySpec,
  to: policySpec,
}));

/** The response to a PUT. */
export const policyPutResponse = object({ ...policyMembers, cascaded: cascadedResponse });

/** The type of a policy of one level. */
export type PolicyResponse = ValueOf<typeof policyResponse>;

type ShowDeps = Pick<Deps, 'config' | 'policyCache'>;

/** The policy of a field at a level. Throws `404 not_found` for a field that is neither built in nor set. */
export async function showPolicy(
  { config, policyCache: policyCache }: ShowDeps,
  at: TenantPath,
  field: string,
): Promise<PolicyResponse> {
  return showLevel(config, { field, scope: levelName(at) }, await policyCache.levels(field, at));
}

/** The policies of all built-in fields, and of those that this level or one above has set, by name. */
export async function listPolicies(
  { config, policyCache: policyCache }: ShowDeps,
  at: TenantPath,
  page: PageRequest,
): Promise<Page<PolicyResponse>> {
  const names = [...(await policyCache.fields(at)).union(new Set(Object.keys(policyDefinitions)))].sort();
  const slice = slicePage(names, page);
  const found = await Promise.all(slice.items.map(async (field) => {
    const entries = await policyCache.levels(field, at);
    // The policy may have been removed since the names were read.
    if (entries.length === 0 && findDefinition(field) === undefined) return [];
    return [showLevel(config, { field, scope: levelName(at) }, entries)];
  }));
  return { ...slice, items: found.flat() };
}

/** The policy of a field at a level, from the entries of the level and those above it. Throws like `showPolicy`. */
export function showLevel(
  config: Config,
  { field, scope }: Pick<PolicyResponse, 'field' | 'scope'>,
  entries: readonly PolicyEntry[],
): PolicyResponse {
  const definition = findDefinition(field);
  const atServer = entries.length === 0 ? initialSpec : serverSpec;
  const server = definition === undefined
    ? []
    : [{ level: 'server' as const, spec: atServer(definition, config) }];
  const bound = combineLevels([...server, ...entries]) ??
    fail('not_found', `policy "${field.slice(0, maxFieldLength)}" is not set`);
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
