// Clamping, and cascades in random trees of policies, as properties.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundAbove, cascade, type StoredPolicy } from '../../../api/policies/cascade.ts';
import { clamp, isSameSpec, type PolicySpec, violation } from '../../../api/policies/spec.ts';

const words = ['a', 'b', 'c', 'd'];
const spec: fc.Arbitrary<PolicySpec> = fc.oneof(
  fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })).map(([a, b]) => ({
    kind: 'range' as const,
    min: Math.min(a, b),
    max: Math.max(a, b),
  })),
  fc.boolean().map((value) => ({ kind: 'toggle' as const, state: 'locked' as const, value })),
  fc.boolean().map((value) => ({ kind: 'toggle' as const, state: 'open' as const, default: value })),
  fc.subarray(words).map((allowed) => ({ kind: 'enum_set' as const, allowed })),
  fc.constant({ kind: 'free' as const }),
);

/** Whether the child admits nothing that the parent does not: written down apart from the code's own clamping. */
function liesWithin(child: PolicySpec, parent: PolicySpec): boolean {
  if (parent.kind === 'free') return true;
  if (parent.kind === 'range') {
    return child.kind === 'range' && child.min >= parent.min && child.max <= parent.max;
  }
  if (parent.kind === 'enum_set') {
    return child.kind === 'enum_set' && child.allowed.every((word) => parent.allowed.includes(word));
  }
  if (child.kind !== 'toggle') return false;
  return parent.state === 'open' || (child.state === 'locked' && child.value === parent.value);
}

const places = [
  { workspace: null, app: null },
  ...['w1', 'w2'].flatMap((workspace) => [null, 'a1', 'a2'].map((app) => ({ workspace, app }))),
];
const keyOf = ({ workspace, app }: { workspace: string | null; app: string | null }) => `${workspace}/${app}`;
const put = fc.record({ place: fc.constantFrom(...places), spec });

/** Puts as the server does: refused outside of the bound, else stored with all that it clamps. */
function apply(rows: StoredPolicy[], { place, spec }: { place: (typeof places)[number]; spec: PolicySpec }) {
  const bound = boundAbove(rows, place, undefined);
  if (bound !== undefined && place.workspace !== null && violation(spec, bound) !== undefined) {
    return { rows, cascaded: undefined };
  }
  const stored = new Map(rows.map((row) => [keyOf(row), row]));
  stored.set(keyOf(place), { ...place, field: 'x.y', spec });
  const ordered = places.map((at) => stored.get(keyOf(at))).filter((row) => row !== undefined);
  const cascaded = cascade(ordered, undefined);
  for (const { workspace, app, field, to } of cascaded) {
    stored.set(keyOf({ workspace, app }), { workspace, app, field, spec: to });
  }
  return { rows: places.map((at) => stored.get(keyOf(at))).filter((row) => row !== undefined), cascaded };
}

/** The nearest level above that has set something. */
function parentOf(rows: readonly StoredPolicy[], { workspace, app }: StoredPolicy): PolicySpec | undefined {
  const at = (place: { workspace: string | null; app: string | null }) =>
    rows.find((row) => keyOf(row) === keyOf(place))?.spec;
  if (workspace === null) return undefined;
  const above = at({ workspace: null, app: null });
  return app === null ? above : at({ workspace, app: null }) ?? above;
}

describe('clamping', () => {
  it('leaves what lies within the parent, and makes everything else lie within it', () => {
    fc.assert(fc.property(spec, spec, (child, parent) => {
      const clamped = clamp(child, parent);
      expect(liesWithin(clamped, parent)).toBe(true);
      expect(isSameSpec(clamped, child)).toBe(liesWithin(child, parent));
      expect(violation(child, parent) === undefined).toBe(liesWithin(child, parent));
    }));
  });
});

describe('a tree of policies', () => {
  it('has every child within its parent after any PUTs, and `cascaded` names exactly what changed', () => {
    fc.assert(
      fc.property(fc.array(put, { minLength: 1, maxLength: 30 }), (puts) => {
        let rows: StoredPolicy[] = [];
        for (const one of puts) {
          const after = apply(rows, one);
          for (const row of after.rows) {
            const parent = parentOf(after.rows, row);
            if (parent !== undefined) expect(liesWithin(row.spec, parent)).toBe(true);
          }
          if (after.cascaded !== undefined) {
            const before = new Map(rows.map((row) => [keyOf(row), row.spec]));
            const changed = after.rows.filter((row) => {
              const old = before.get(keyOf(row));
              return keyOf(row) !== keyOf(one.place) && (old === undefined || !isSameSpec(old, row.spec));
            });
            expect(after.cascaded.map(({ workspace, app, from, to }) => ({ workspace, app, from, to })))
              .toEqual(
                changed.map(({ workspace, app, spec: to }) => ({
                  workspace,
                  app,
                  from: before.get(keyOf({ workspace, app })),
                  to,
                })),
              );
          }
          rows = after.rows;
        }
      }),
      { numRuns: 500 },
    );
  });
});

it('compares long lists of words in little time', () => {
  const listOf = (first: number): PolicySpec => ({
    kind: 'enum_set',
    allowed: Array.from({ length: 100_000 }, (_, index) => `word ${first + index}`),
  });
  const start = process.threadCpuUsage();
  expect(violation(listOf(0), listOf(0))).toBeUndefined();
  expect(violation(listOf(1), listOf(0))).toBeDefined();
  const { user, system } = process.threadCpuUsage(start);
  // Each with each would take many seconds.
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
