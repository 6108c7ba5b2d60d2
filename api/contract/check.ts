// Checks a value against a schema, and reports everything that is wrong with it, within limits.
import { failValidation, type FieldError } from '../errors.ts';
import type { Schema } from './schema.ts';

type Part = Pick<Schema<unknown>['struct'], 'validator' | 'entries'>;

/** A body full of errors must not make a response that is as long, or takes as long. */
const maxErrors = 100;
const maxNameLength = 100;

/** Returns a good value. Throws `400 validation` with the errors of any other, at most a hundred. */
export function check<Value>(value: unknown, against: Schema<Value>): Value {
  const errors = findErrors(value, against);
  if (errors.length > 0) failValidation(errors);
  return value as Value;
}

/** Finds the errors of a value, at most a hundred. */
export function findErrors(value: unknown, against: Schema<unknown>): FieldError[] {
  if (against.accepts?.(value) === true) return [];
  return [...errorsIn(value, against.struct, []).take(maxErrors)];
}

/** Finds errors one by one, so that the search can stop; the library would find all of them. */
function* errorsIn(value: unknown, struct: Part, path: string[]): Generator<FieldError> {
  const context = { path, branch: [], mask: false };
  for (const { message } of struct.validator(value, context)) {
    yield { field: path.join('.'), reason: message };
  }
  for (const [name, part, inner] of struct.entries(value, context)) {
    yield* errorsIn(part, inner, [...path, String(name).slice(0, maxNameLength) || '""']);
  }
}
