// Combines the policies of all levels, from the server's own bound down, to the one that is in effect.
import type { Config } from '../../supervisor/protocol.ts';
import type { AnyDefinition } from './definition-kinds.ts';
import { policyDefinitions } from './definitions.ts';
import { clamp, isSameSpec, type PolicySpec } from './spec.ts';

/** The level that a bound comes from. `server` is the default while the master has set nothing. */
export type LevelName = 'server' | 'system' | 'workspace' | 'app';

/** The name of the level of an app, a workspace or the system. Missing members may be null, as in rows. */
export function levelName(
  { workspace, app }: { workspace?: string | null | undefined; app?: string | null | undefined },
): Exclude<LevelName, 'server'> {
  if (typeof app === 'string') return 'app';
  return typeof workspace === 'string' ? 'workspace' : 'system';
}

/** The policy that a level has set. */
export interface LevelSpec {
  level: LevelName;
  spec: PolicySpec;
}

/** The bound in effect, with the level that each part of it comes from. */
export interface Bound {
  spec: PolicySpec;
  /** By member of the spec: `min`, `max`, `state`, `allowed`; `kind` for a free one. */
  setBy: Readonly<Record<string, LevelName>>;
}

/** The definition of a built-in field; undefined for one that only apps use. */
export function findDefinition(field: string): AnyDefinition | undefined {
  return Object.hasOwn(policyDefinitions, field)
    ? policyDefinitions[field as keyof typeof policyDefinitions]
    : undefined;
}

/** The server's own bound of a built-in field. */
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

/** The spec of a built-in field that is in effect while no level has set one. It may be narrower than the server's bound. */
export function initialSpec(definition: AnyDefinition, config: Config): PolicySpec {
  return definition.kind === 'enum_set' && definition.default !== undefined
    ? { kind: 'enum_set', allowed: definition.default }
    : serverSpec(definition, config);
}

/**
 * The bound below all these levels; undefined when none has set one. The system level replaces that of the server. Every
 * further level is clamped to those above it, whatever is stored.
 */
export function combineLevels(levels: readonly LevelSpec[]): Bound | undefined {
  let bound: Bound | undefined;
  for (const { level, spec } of levels) {
    const next = bound === undefined || level === 'system' ? spec : clamp(spec, bound.spec);
    bound = { spec: next, setBy: origins(next, level, level === 'system' ? undefined : bound) };
  }
  return bound;
}

function origins(spec: PolicySpec, level: LevelName, above: Bound | undefined): Bound['setBy'] {
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
