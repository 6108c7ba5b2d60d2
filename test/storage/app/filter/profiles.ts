// The profiles that callers have in filter tests.
import type { FilterRecord } from '../../../../storage/app/filter/column-value.ts';
import type { Field } from '../../../../storage/definition.ts';

/** Profiles of users, which a request may have. */
export const profiles: Readonly<Record<string, readonly Field[]>> = {
  members: [
    { name: 'plan', kind: 'text' },
    { name: 'seats', kind: 'number' },
    { name: 'active', kind: 'bool' },
    { name: 'since', kind: 'datetime' },
    { name: 'team', kind: 'relation', target: 'authors' },
    { name: 'meta', kind: 'json' },
    { name: 'contact', kind: 'email' },
  ],
};

/** A profile in `members`, as a request has it. */
export function profileOf(
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Record<string, FilterRecord> {
  const at = '2026-01-02T03:04:05.678Z';
  return { members: { id, fields, created_at: at, updated_at: at } };
}
