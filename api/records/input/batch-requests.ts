// The requests of a batch, read and checked one by one.
import { array, described, fieldMap, object, oneOf, optional, string } from '../../contract/schema.ts';
import { failValidation, type FieldError, reasons } from '../../errors.ts';
import type { WriteAction } from '../../hooks/ports.ts';
import type { IntendedChange } from '../ports.ts';
import type { RecordInput } from './values.ts';

const maximalWrites = 100;

const request = object({
  method: oneOf(['POST', 'PATCH', 'DELETE']),
  collection: string(),
  id: optional(described(string(), 'The record to change or delete.')),
  on_conflict: optional(
    described(string({ min: 1, max: 1_000 }), 'For a POST: as in a request that creates one record.'),
  ),
  body: optional(fieldMap('The same as in a request that creates or changes one record.')),
});

/** The body of a batch. */
export const batchBody = object({
  requests: described(
    array(request, { max: maximalWrites }),
    'Run in this order. A later one may point to a record that an earlier one creates.',
  ),
});

/** A write as the body has it. */
export interface BatchRequest {
  method: 'POST' | 'PATCH' | 'DELETE';
  collection: string;
  id?: string | undefined;
  on_conflict?: string | undefined;
  body?: RecordInput | undefined;
}

/** A write with what its method needs. */
export type BatchWrite =
  | { method: 'POST'; input: RecordInput; newId?: string; onConflict?: string | undefined }
  | { method: 'PATCH'; id: string; input: RecordInput }
  | { method: 'DELETE'; id: string };

/** The writes of a batch. Throws `400 validation` with every member that is missing or must not be there. */
export function readWrites(requests: readonly BatchRequest[]): BatchWrite[] {
  const errors: FieldError[] = [];
  const writes: BatchWrite[] = [];
  for (const [index, { method, id, on_conflict: onConflict, body }] of requests.entries()) {
    const refuse = (member: string, reason: string) =>
      errors.push({ field: `${requestName(index)}.${member}`, reason });
    if (method === 'DELETE' && body !== undefined) refuse('body', 'a DELETE has none');
    if (method !== 'DELETE' && body === undefined) refuse('body', reasons.required);
    if (method === 'POST' && id !== undefined) refuse('id', 'the id of a new record goes into its body');
    if (method !== 'POST' && id === undefined) refuse('id', reasons.required);
    if (method !== 'POST' && onConflict !== undefined) refuse('on_conflict', 'is for a POST');
    if (method === 'POST') writes.push({ method, input: body ?? {}, onConflict });
    else if (method === 'PATCH') writes.push({ method, id: id ?? '', input: body ?? {} });
    else writes.push({ method, id: id ?? '' });
  }
  if (errors.length > 0) failValidation(errors);
  return writes;
}

/** The name of a request of a batch in messages. */
export function requestName(index: number): string {
  return `requests.${index}`;
}

const actions = { POST: 'create', PATCH: 'update', DELETE: 'delete' } as const;

/** The action of a write, as rules and hooks know it. */
export function writeAction({ method }: BatchWrite): WriteAction {
  return actions[method];
}

/** The changes that writes are about to make. New profiles have no id yet: theirs is that of their user. */
export function intendedChanges(
  requests: readonly BatchRequest[],
  writes: readonly BatchWrite[],
): IntendedChange[] {
  return writes.map((write, index) => {
    const id = write.method === 'POST' ? write.input['id'] ?? write.newId : write.id;
    return {
      action: writeAction(write),
      collection: requests[index]?.collection ?? '',
      id: typeof id === 'string' ? id : undefined,
    };
  });
}
