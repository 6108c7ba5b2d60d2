// The kinds of built-in policies, as their definitions say them.
import type { Config } from '../../supervisor/protocol.ts';

/** The bounds of a number, and its value while none is chosen. */
export interface RangeDefinition {
  kind: 'range';
  /** One sentence for the reference. */
  meaning: string;
  min: number;
  max(config: Config): number;
  /** `min`, `max`: the bound in effect. */
  default: 'min' | 'max' | ((config: Config) => number);
  /** The usable values, whatever the master sets. */
  usable?: readonly [min: number, max: number];
}

/** A switch. */
export interface ToggleDefinition {
  kind: 'toggle';
  meaning: string;
  default: boolean;
}

/** A choice of words. */
export interface EnumDefinition {
  kind: 'enum_set';
  meaning: string;
  /** The words that may be chosen; none where any word is legal. */
  allowed: readonly string[];
  /** The words in effect while no level has set any; all of `allowed` by default. */
  default?: readonly string[];
  /** The form of a word, where any word of that form is legal. */
  word?: { pattern: RegExp; hint: string };
  /** True of words that the system permits only: none is chosen until a workspace or an app names it. */
  isBoundOnly?: boolean;
}

/** The definition of a built-in policy. */
export type AnyDefinition = RangeDefinition | ToggleDefinition | EnumDefinition;
