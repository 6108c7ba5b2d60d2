// The schema of a PolicySpec, for requests, responses and stored rows.
import { check } from '../contract/check.ts';
import {
  array,
  boolean,
  finiteNumber,
  object,
  oneOf,
  type Schema,
  string,
  variants,
} from '../contract/schema.ts';
import type { PolicySpec } from './spec.ts';

/** Of an `enum_set`. */
const maxWords = 1_000;
const maxWordLength = 255;

/** A PolicySpec. The order of `min` and `max`, and the definition of the field, are checked by `checkedSpec`. */
export const policySpec: Schema<PolicySpec> = variants('kind', {
  range: object({ kind: oneOf(['range']), min: finiteNumber(), max: finiteNumber() }),
  toggle: variants('state', {
    locked: object({ kind: oneOf(['toggle']), state: oneOf(['locked']), value: boolean() }),
    open: object({ kind: oneOf(['toggle']), state: oneOf(['open']), default: boolean() }),
  }),
  enum_set: object({
    kind: oneOf(['enum_set']),
    allowed: array(string({ min: 1, max: maxWordLength }), { max: maxWords }),
  }),
  free: object({ kind: oneOf(['free']) }),
});

/** A stored spec, checked like one of a request. Its members are in the order of the schema, which `jsonb` does not keep. */
export function storedSpec(value: unknown): PolicySpec {
  const spec = check(value, policySpec);
  switch (spec.kind) {
    case 'range':
      return { kind: spec.kind, min: spec.min, max: spec.max };
    case 'toggle':
      return spec.state === 'locked'
        ? { kind: spec.kind, state: spec.state, value: spec.value }
        : { kind: spec.kind, state: spec.state, default: spec.default };
    case 'enum_set':
      return { kind: spec.kind, allowed: spec.allowed };
    case 'free':
      return { kind: spec.kind };
  }
}
