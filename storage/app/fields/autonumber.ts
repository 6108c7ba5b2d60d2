// Numbers that the server gives to records: 1, 2, 3 … in a collection, or for each value of another field.
import type { Field } from '../../definition.ts';

/** How a field numbers records. */
export interface Numbering {
  /** The field whose values have numbers of their own; undefined when all of the collection are numbered together. */
  within: string | undefined;
}

/** How a field numbers records; undefined for one that does not. */
export function numberingOf({ autonumber }: Field): Numbering | undefined {
  if (autonumber === undefined || autonumber === false) return undefined;
  return { within: autonumber === true ? undefined : autonumber.within };
}
