// Checks the name of a policy and the spec that it is set to.
import { failValidation } from '../errors.ts';
import { findDefinition } from './chain.ts';
import type { PolicySpec } from './spec.ts';

const fieldPattern = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;
/** In characters. */
export const maxFieldLength = 200;

/** True when a policy may have this name. Other names are not sent to the database, which refuses some characters. */
export function isFieldName(field: string): boolean {
  return fieldPattern.test(field) && field.length <= maxFieldLength;
}

/** Checks that a field may have the spec, and returns it with each word once. Throws `400 validation`. */
export function checkedSpec(field: string, spec: PolicySpec): PolicySpec {
  if (!isFieldName(field)) {
    failValidation([{
      field: 'field',
      reason: `"${field.slice(0, maxFieldLength)}" is not a name like \`a.b\``,
    }]);
  }
  if (spec.kind === 'range' && spec.min > spec.max) {
    failValidation([{ field: 'max', reason: 'must not be below min' }]);
  }
  const definition = findDefinition(field);
  if (definition === undefined) return unrepeated(spec);
  if (spec.kind !== definition.kind) {
    failValidation([{ field: 'kind', reason: `${field} is a ${definition.kind}, not a ${spec.kind}` }]);
  }
  if (spec.kind === 'range') checkWhole(spec);
  if (spec.kind === 'enum_set' && definition.kind === 'enum_set') checkWords(spec.allowed, definition);
  return unrepeated(spec);
}

/** The built-in ranges are lengths, times and sizes. */
function checkWhole(spec: { min: number; max: number }): void {
  const wrong = (['min', 'max'] as const).filter((name) =>
    !Number.isSafeInteger(spec[name]) || spec[name] < 0
  );
  if (wrong.length > 0) {
    failValidation(wrong.map((name) => ({ field: name, reason: 'must be a whole number, 0 or more' })));
  }
}

function checkWords(
  words: readonly string[],
  { allowed, word: rule }: { allowed: readonly string[]; word?: { pattern: RegExp; hint: string } },
): void {
  const isAllowed = (word: string) => rule?.pattern.test(word) ?? allowed.includes(word);
  const reason = rule?.hint ?? `must be one of ${allowed.join(', ')}`;
  const errors = words.flatMap((word, index) =>
    isAllowed(word) ? [] : [{ field: `allowed.${index}`, reason }]
  );
  if (errors.length > 0) failValidation(errors);
}

function unrepeated(spec: PolicySpec): PolicySpec {
  return spec.kind === 'enum_set' ? { kind: 'enum_set', allowed: [...new Set(spec.allowed)] } : spec;
}
