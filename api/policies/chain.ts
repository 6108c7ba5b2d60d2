// From what each level has set to what holds: one walk from the server's own bound down.
import type { Config } from '../../supervisor/protocol.ts';
import { type AnyDefinition, policyDefinitions } from './definitions.ts';
import { clamp, isSameSpec, type PolicySpec } from './spec.ts';

/** Where a bound comes from: `server` is what stands while the master has set nothing. */
export type PolicyLevel = 'server' | 'system' | 'workspace' | 'app';

/** The level that a place stands at; members that are missing may be null too, as rows have them. */
export function levelAt(
  { workspace, app }: { workspace?: string | null | undefined; app?: string | null | undefined },
): Exclude<PolicyLevel, 'server'> {
  if (typeof app === 'string') return 'app';
  return typeof workspace === 'string' ? 'workspace' : 'system';
}

/** What a level has set. */
export interface LevelSpec {
  level: PolicyLevel;
  spec: PolicySpec;
}

/** The bound at the end of a chain, and which level is the reason for each part of it. */
export interface Bound {
  spec: PolicySpec;
  /** By member of the spec: `min`, `max`, `state`, `allowed`; `kind` for a free one. */
  setBy: Readonly<Record<string, PolicyLevel>>;
}

/** The definition of a field that the server itself obeys, or undefined for one of the apps' own. */
export function findDefinition(field: string): AnyDefinition | undefined {
  return Object.hasOwn(policyDefinitions, field)
    ? policyDefinitions[field as keyof typeof policyDefinitions]
    : undefined;
}

/** The server's own bound of a field with meaning. */
export function serverSpec(definition: AnyDefinition, config: Config): PolicySpec {
  switch (definition.kind) {
    case 'range': {
      const { min } = definition;
      return { kind: 'range', min, max: Math.max(min, definition.max(config)) };
    }
    case 'toggle':
      return { kind: 'toggle', state: 'open', default: definition.default };
    case 'enum_set':
      return { kind: 'enum_set', allowed: definition.allowed };
  }
}

/**
 * What holds below all these levels, or undefined where none has set anything. The master's own setting takes the place
 * of the server's; every further one is read as if it had been clamped, whatever is stored.
 */
export function combineLevels(levels: readonly LevelSpec[]): Bound | undefined {
  let bound: Bound | undefined;
  for (const { level, spec } of levels) {
    const next = bound === undefined || level === 'system' ? spec : clamp(spec, bound.spec);
    bound = { spec: next, setBy: reasons(next, level, level === 'system' ? undefined : bound) };
  }
  return bound;
}

function reasons(spec: PolicySpec, level: PolicyLevel, above: Bound | undefined): Bound['setBy'] {
  const members = Object.entries(spec).filter(([name]) => name !== 'kind' || spec.kind === 'free');
  return Object.fromEntries(members.map(([name, value]) => {
    const before: Readonly<Record<string, unknown>> = above === undefined ? {} : { ...above.spec };
    const inherited = above !== undefined && sameValue(before[name], value);
    return [name, inherited ? above.setBy[name] ?? level : level];
  }));
}

function sameValue(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return isSameSpec({ kind: 'enum_set', allowed: a }, { kind: 'enum_set', allowed: b });
}
