// The four kinds of policy specs: their form, their order, and how one is clamped to another.

/** Inclusive bounds of a number. */
export interface RangeSpec {
  readonly kind: 'range';
  readonly min: number;
  readonly max: number;
}

/** A switch: `locked` is fixed for the levels below, `open` is a default that they may change. */
export type ToggleSpec =
  | { readonly kind: 'toggle'; readonly state: 'locked'; readonly value: boolean }
  | { readonly kind: 'toggle'; readonly state: 'open'; readonly default: boolean };

/** The words that may be chosen from. */
export interface EnumSpec {
  readonly kind: 'enum_set';
  readonly allowed: readonly string[];
}

/** No bound. Levels below may set any kind of spec. */
export interface FreeSpec {
  readonly kind: 'free';
}

/** The policy of a field at a level. */
export type PolicySpec = RangeSpec | ToggleSpec | EnumSpec | FreeSpec;

/** The child within the bound of its parent: itself when it lies within it, else the nearest spec that does. */
export function clamp(child: PolicySpec, parent: PolicySpec): PolicySpec {
  if (parent.kind === 'free') return child;
  if (child.kind !== parent.kind) return parent;
  switch (parent.kind) {
    case 'range':
      return child.kind === 'range' ? clampRange(child, parent) : parent;
    case 'toggle':
      return parent.state === 'locked' ? parent : child;
    case 'enum_set':
      return child.kind === 'enum_set' ? clampSet(child, parent) : parent;
  }
}

function clampRange(child: RangeSpec, { min, max }: RangeSpec): RangeSpec {
  if (child.min >= min && child.max <= max) return child;
  const into = (value: number) => Math.min(max, Math.max(min, value));
  return { kind: 'range', min: into(child.min), max: into(child.max) };
}

function clampSet(child: EnumSpec, parent: EnumSpec): EnumSpec {
  const words = new Set(parent.allowed);
  const allowed = child.allowed.filter((word) => words.has(word));
  return allowed.length === child.allowed.length ? child : { kind: 'enum_set', allowed };
}

/** The reason why a child is outside of the bound of its parent, or undefined when it is within it. */
export function violation(child: PolicySpec, parent: PolicySpec): string | undefined {
  if (isSameSpec(clamp(child, parent), child)) return undefined;
  return `${describe(child)} lies outside the bound of the level above, ${describe(parent)}`;
}

/** True when two specs are equal. The order of words does not matter. */
export function isSameSpec(a: PolicySpec, b: PolicySpec): boolean {
  if (a.kind === 'enum_set' && b.kind === 'enum_set') {
    if (a.allowed.length !== b.allowed.length) return false;
    const words = new Set(b.allowed);
    return a.allowed.every((word) => words.has(word));
  }
  return describe(a) === describe(b);
}

/** Describes a spec in a message. */
function describe(spec: PolicySpec): string {
  switch (spec.kind) {
    case 'range':
      return `range ${spec.min} to ${spec.max}`;
    case 'toggle':
      return spec.state === 'locked'
        ? `toggle locked at ${spec.value}`
        : `toggle open, default ${spec.default}`;
    case 'enum_set':
      return `enum_set [${spec.allowed.join(', ')}]`;
    case 'free':
      return 'free';
  }
}
