// A record, as responses show it.
import { fieldMap, object, optional, string } from '../contract/schema.ts';

/** The schema of a record. */
export const record = object({
  id: string({ format: 'uuid' }),
  collection: string(),
  fields: fieldMap('Every field of the collection; null for an empty one.'),
  created_at: optional(string({ format: 'date-time' })),
  updated_at: optional(string({ format: 'date-time' })),
  expand: optional(
    fieldMap(
      'For each relation its record, which may have an `expand` of its own, or null if there is none that the caller may read. ' +
        'For a relation backwards, the records that point to this one and that the caller may read. For a field of files, ' +
        'those that the caller may read, each with `id`, `filename`, `mime`, `size`, `created_at`, and a `url` until `expires_at`.',
    ),
  ),
});
