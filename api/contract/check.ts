// Checking a value against a schema: all that is wrong with it at once, within bounds.
import { failValidation, type FieldError } from '../errors.ts';
import type { Schema } from './schema.ts';

type Part = Pick<Schema<unknown>['struct'], 'validator' | 'entries'>;

/** The answer to a body of nothing but nonsense need be neither as long as the body, nor as long in coming. */
const mostErrors = 100;
const longestName = 100;

/** Lets a good value through. `400 validation` names everything that is wrong with another, or a hundred things. */
export function check<Value>(value: unknown, against: Schema<Value>): Value {
  const errors = findErrors(value, against);
  if (errors.length > 0) failValidation(errors);
  return value as Value;
}

/** All that is wrong with a value, or a hundred things. */
export function findErrors(value: unknown, against: Schema<unknown>): FieldError[] {
  if (against.accepts?.(value) === true) return [];
  return [...errorsIn(value, against.struct, []).take(mostErrors)];
}

/** One at a time: the library's own list of them is made as a whole. */
function* errorsIn(value: unknown, struct: Part, path: string[]): Generator<FieldError> {
  const context = { path, branch: [], mask: false };
  for (const { message } of struct.validator(value, context)) {
    yield { field: path.join('.'), reason: message };
  }
  for (const [name, part, inner] of struct.entries(value, context)) {
    yield* errorsIn(part, inner, [...path, String(name).slice(0, longestName) || '""']);
  }
}
