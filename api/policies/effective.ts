// Reads the policies in effect: those of a level, with every level above it applied.
import type { Config } from '../../supervisor/protocol.ts';
import type { TenantPath } from '../scope.ts';
import type { PolicyCache } from './cache.ts';
import { combineLevels, initialSpec, serverSpec } from './chain.ts';
import type { EnumDefinition, RangeDefinition } from './definition-kinds.ts';
import { type EnumPolicy, policyDefinitions, type RangePolicy, type TogglePolicy } from './definitions.ts';
import type { PolicySpec } from './spec.ts';

/** The bounds in effect, and the default within them and within the usable values. */
export interface EffectiveRange {
  min: number;
  max: number;
  value: number;
}

/** The policies in effect, as features read them. A path without a workspace is the system. Throws `StorageError`. */
export interface Policies {
  range(name: RangePolicy, at: TenantPath): Promise<EffectiveRange>;
  toggle(name: TogglePolicy, at: TenantPath): Promise<boolean>;
  set(name: EnumPolicy, at: TenantPath): Promise<readonly string[]>;
}

/** Creates the reader of policies over their cache. */
export function effectivePolicies({ config, cache }: { config: Config; cache: PolicyCache }): Policies {
  const specAt = async (name: keyof typeof policyDefinitions, at: TenantPath): Promise<PolicySpec> => {
    const definition = policyDefinitions[name];
    const levels = await cache.levels(name, at);
    if (levels.length === 0) return initialSpec(definition, config);
    const own = serverSpec(definition, config);
    return combineLevels([{ level: 'server', spec: own }, ...levels])?.spec ?? own;
  };
  return {
    async range(name, at) {
      const spec = await specAt(name, at);
      if (spec.kind !== 'range') throw new TypeError(`policy ${name} is stored as ${spec.kind}`);
      const { min, max } = spec;
      const { default: initial, usable: [minUsable, maxUsable] = [min, max] }: RangeDefinition =
        policyDefinitions[name];
      const bounds = { min, max };
      const value = typeof initial === 'string'
        ? bounds[initial]
        : Math.min(max, Math.max(min, initial(config)));
      return { min, max, value: Math.min(maxUsable, Math.max(minUsable, value)) };
    },
    async toggle(name, at) {
      const spec = await specAt(name, at);
      if (spec.kind !== 'toggle') throw new TypeError(`policy ${name} is stored as ${spec.kind}`);
      return spec.state === 'locked' ? spec.value : spec.default;
    },
    async set(name, at) {
      const { isBoundOnly = false }: EnumDefinition = policyDefinitions[name];
      if (isBoundOnly) {
        const levels = await cache.levels(name, at);
        if (levels.every(({ level }) => level === 'system')) return [];
      }
      const spec = await specAt(name, at);
      if (spec.kind !== 'enum_set') throw new TypeError(`policy ${name} is stored as ${spec.kind}`);
      return spec.allowed;
    },
  };
}
