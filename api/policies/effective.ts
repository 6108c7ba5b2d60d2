// The one way to read a policy: what holds at a place once every level above it has been applied.
import type { Config } from '../../supervisor/protocol.ts';
import type { Place } from '../scope.ts';
import {
  policyDefinitions,
  type RangeDefinition,
  type RangePolicy,
  type SetPolicy,
  type TogglePolicy,
} from './definitions.ts';

/** Bounds in force, and the value that they leave of the default. */
export interface EffectiveRange {
  min: number;
  max: number;
  value: number;
}

/** Policies as features read them; a place without a workspace is the server itself. */
export interface Policies {
  range(name: RangePolicy, at: Place): Promise<EffectiveRange>;
  toggle(name: TogglePolicy, at: Place): Promise<boolean>;
  set(name: SetPolicy, at: Place): Promise<readonly string[]>;
}

/** Policies of a server on which no level has set any: the server's own bounds hold everywhere. */
export function effectivePolicies(config: Config): Policies {
  return {
    range: (name) => Promise.resolve(serverRange(policyDefinitions[name], config)),
    toggle: (name) => Promise.resolve(policyDefinitions[name].default),
    set: (name) => Promise.resolve(policyDefinitions[name].allowed),
  };
}

function serverRange(definition: RangeDefinition, config: Config): EffectiveRange {
  const { min } = definition;
  const max = Math.max(min, definition.max(config));
  const wanted = definition.default === 'max' ? max : definition.default(config);
  return { min, max, value: Math.min(max, Math.max(min, wanted)) };
}
