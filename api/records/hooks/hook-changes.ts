// What hooks make of the input of a write.
import { fail } from '../../errors.ts';
import type { RecordInput } from '../input/values.ts';

/** A write's input before hooks, and which fields are theirs. */
export interface Hooked {
  /** As the caller sent it: what rules know as the body. */
  body: RecordInput;
  /** They are not held to what the caller may reach. */
  fields: ReadonlySet<string>;
}

/** The input with the hooks' changes; they are checked like what a caller sends. Throws `400 validation`. */
export function settledBy(
  body: RecordInput,
  changes: RecordInput = {},
): { input: RecordInput; hooked: Hooked } {
  // A caller may send the id of a new record. Hooks have been told which it is.
  if (Object.hasOwn(changes, 'id')) fail('validation', 'id: unknown field');
  return { input: { ...body, ...changes }, hooked: { body, fields: new Set(Object.keys(changes)) } };
}

/** Sees of a record change only while hooks run: after so many tries its caller is told. */
export const mostLooks = 3;
