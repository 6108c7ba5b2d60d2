// The four kinds of policy: what each says, whether one lies within another, and what clamping makes of it.

/** Bounds of a number, both inclusive. */
export interface RangeSpec {
  readonly kind: 'range';
  readonly min: number;
  readonly max: number;
}

/** A yes or no that holds below (`locked`), or a default that levels below may change (`open`). */
export type ToggleSpec =
  | { readonly kind: 'toggle'; readonly state: 'locked'; readonly value: boolean }
  | { readonly kind: 'toggle'; readonly state: 'open'; readonly default: boolean };

/** The words that may be chosen from. */
export interface SetSpec {
  readonly kind: 'enum_set';
  readonly allowed: readonly string[];
}

/** No bound: levels below may set any kind. */
export interface FreeSpec {
  readonly kind: 'free';
}

/** What a level says of a field. */
export type PolicySpec = RangeSpec | ToggleSpec | SetSpec | FreeSpec;

/** The child as it may stay below the parent: itself where it lies within it, else the nearest that does. */
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

function clampSet(child: SetSpec, parent: SetSpec): SetSpec {
  const words = new Set(parent.allowed);
  const allowed = child.allowed.filter((word) => words.has(word));
  return allowed.length === child.allowed.length ? child : { kind: 'enum_set', allowed };
}

/** Why the child may not stand below the parent, or undefined when it may: clamping would leave it as it is. */
export function violation(child: PolicySpec, parent: PolicySpec): string | undefined {
  if (isSameSpec(clamp(child, parent), child)) return undefined;
  return `${inWords(child)} lies outside the bound of the level above, ${inWords(parent)}`;
}

/** Whether two say the same. The order of words does not matter. */
export function isSameSpec(a: PolicySpec, b: PolicySpec): boolean {
  if (a.kind === 'enum_set' && b.kind === 'enum_set') {
    if (a.allowed.length !== b.allowed.length) return false;
    const words = new Set(b.allowed);
    return a.allowed.every((word) => words.has(word));
  }
  return inWords(a) === inWords(b);
}

/** A spec for a message. */
function inWords(spec: PolicySpec): string {
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
