// Several writes in one transaction: all of them or none.
import type { Transport } from './transport.ts';
import type { AppShape, CollectionName, RecordOf } from './types.ts';

/** A write of a batch, whose response is an `R`. */
export interface BatchWrite<R> {
  method: 'POST' | 'PATCH' | 'DELETE';
  collection: string;
  id?: string;
  body?: object;
  /** Only in the types. */
  response?: R;
}

/** The writes of one collection, to put into a batch. */
export interface BatchCollection<T extends AppShape, C extends CollectionName<T>> {
  create(fields: T['collections'][C]['create']): BatchWrite<RecordOf<T, C>>;
  update(id: string, fields: T['collections'][C]['update']): BatchWrite<RecordOf<T, C>>;
  delete(id: string): BatchWrite<void>;
}

/** Makes the writes of a batch: `(to) => [to('orders').create({ … }), to('carts').delete(id)]`. */
export type BatchMaker<T extends AppShape, W extends readonly BatchWrite<unknown>[]> = (
  to: <C extends CollectionName<T>>(collection: C) => BatchCollection<T, C>,
) => W;

/** The responses to the writes of a batch, in their order. */
export type BatchResponses<W extends readonly BatchWrite<unknown>[]> = {
  -readonly [I in keyof W]: W[I] extends BatchWrite<infer R> ? R : never;
};

/** Sends the writes, and returns the records that they made. */
export async function sendBatch<T extends AppShape, const W extends readonly BatchWrite<unknown>[]>(
  transport: Transport,
  path: string,
  make: BatchMaker<T, W>,
): Promise<BatchResponses<W>> {
  const requests = make((collection) => ({
    create: (body) => ({ method: 'POST', collection, body }),
    update: (id, body) => ({ method: 'PATCH', collection, id, body }),
    delete: (id) => ({ method: 'DELETE', collection, id }),
  }));
  const { results } = await transport.json<{ results: { body: unknown }[] }>('POST', path, {
    body: { requests },
  });
  return results.map(({ body }, index) =>
    requests[index]?.method === 'DELETE' ? undefined : body
  ) as BatchResponses<W>;
}
