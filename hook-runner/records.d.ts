// What `$app` does with records, for the app itself and for a caller. Served after `hooks.d.ts` at GET …/hooks/types.

/** The records of the app's collections. */
interface HookRecords {
  /** Returns null if there is none. */
  findOne<C extends CollectionName>(collection: C, id: string): Promise<HookRecord<C> | null>;
  list<C extends CollectionName>(
    collection: C,
    query?: HookListQuery,
  ): Promise<HookRecordPage<C>>;
  /** The number of records, or of those that pass a filter. */
  count(collection: CollectionName, query?: { filter?: string }): Promise<number>;
  /** Numbers about all records, or about each group of them: `{ fn: 'count,sum(total)', group: 'status' }`. */
  aggregate(
    collection: CollectionName,
    query: { fn: string; group?: string; filter?: string },
  ): Promise<{ readonly items: HookAggregate[] }>;
  /** With `on_conflict`, unique fields separated by commas, a record that has the same values is updated. */
  create<C extends CollectionName>(
    collection: C,
    fields: NewRecord<C>,
    options?: { on_conflict?: string },
  ): Promise<HookRecord<C>>;
  update<C extends CollectionName>(
    collection: C,
    id: string,
    fields: Partial<FieldsOf<C>> & Modifiers<FieldsOf<C>>,
  ): Promise<HookRecord<C>>;
  delete(collection: CollectionName, id: string): Promise<null>;
}

/** A write of a batch: what a request would create, change or delete. */
type HookBatchRequest = {
  [C in CollectionName]:
    | { method: 'POST'; collection: C; on_conflict?: string; body: NewRecord<C> }
    | { method: 'PATCH'; collection: C; id: string; body: Partial<FieldsOf<C>> & Modifiers<FieldsOf<C>> }
    | { method: 'DELETE'; collection: C; id: string };
}[CollectionName];

/** For each write, in order: the record (`201` for a new one), or `{ ok: true }` for one that is deleted. */
interface HookBatchResults {
  readonly results: { readonly status: number; readonly body: HookRecord | { readonly ok: true } }[];
}

/** What `$app.as` gives: calls that see and change what the caller may. They throw what a request of the caller would get. */
interface HookActing {
  readonly records: HookRecords;
  batch(requests: readonly HookBatchRequest[]): Promise<HookBatchResults>;
}
