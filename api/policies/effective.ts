// The one way to read a policy: what holds at a place once every level above it has been applied.
import type { Config } from '../../supervisor/protocol.ts';
import type { TenantPath } from '../scope.ts';
import type { PolicyCache } from './cache.ts';
import { combineLevels, serverSpec } from './chain.ts';
import {
  policyDefinitions,
  type RangeDefinition,
  type RangePolicy,
  type SetPolicy,
  type TogglePolicy,
} from './definitions.ts';
import type { PolicySpec } from './spec.ts';

/** Bounds in force, and the value that they leave of the default, as far as it can be made use of. */
export interface EffectiveRange {
  min: number;
  max: number;
  value: number;
}

/** Policies as features read them; a place without a workspace is the server itself. Throws `StorageError`. */
export interface Policies {
  range(name: RangePolicy, at: TenantPath): Promise<EffectiveRange>;
  toggle(name: TogglePolicy, at: TenantPath): Promise<boolean>;
  set(name: SetPolicy, at: TenantPath): Promise<readonly string[]>;
}

/** Reads the policies of a place out of the book. */
export function effectivePolicies({ config, book }: { config: Config; book: PolicyCache }): Policies {
  const specAt = async (name: keyof typeof policyDefinitions, at: TenantPath): Promise<PolicySpec> => {
    const own = serverSpec(policyDefinitions[name], config);
    const levels = await book.levels(name, at);
    return levels.length === 0
      ? own
      : combineLevels([{ level: 'server', spec: own }, ...levels])?.spec ?? own;
  };
  return {
    async range(name, at) {
      const spec = await specAt(name, at);
      if (spec.kind !== 'range') throw new TypeError(`policy ${name} is stored as ${spec.kind}`);
      const { min, max } = spec;
      const { default: wanted, usable: [least, most] = [min, max] }: RangeDefinition =
        policyDefinitions[name];
      const value = wanted === 'max' ? max : Math.min(max, Math.max(min, wanted(config)));
      return { min, max, value: Math.min(most, Math.max(least, value)) };
    },
    async toggle(name, at) {
      const spec = await specAt(name, at);
      if (spec.kind !== 'toggle') throw new TypeError(`policy ${name} is stored as ${spec.kind}`);
      return spec.state === 'locked' ? spec.value : spec.default;
    },
    async set(name, at) {
      const spec = await specAt(name, at);
      if (spec.kind !== 'enum_set') throw new TypeError(`policy ${name} is stored as ${spec.kind}`);
      return spec.allowed;
    },
  };
}
