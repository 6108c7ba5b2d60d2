// What `$app.records` reads of many records at once. Served after `hooks.d.ts` at GET …/hooks/types.

/** The query of a list, as in requests. With `fields`, records have no others of theirs; with `skip_total`, totals are -1. */
interface HookListQuery {
  readonly filter?: string;
  readonly search?: string;
  readonly sort?: string;
  readonly cursor?: string;
  /** Relations whose records come along, without access rules: `author,comments_via_issue`. */
  readonly expand?: string;
  readonly fields?: string;
  readonly page?: number;
  readonly per_page?: number;
  readonly skip_total?: boolean;
}

/** A page of records. `next_cursor` is the `cursor` of the next page, and null at the end. */
interface HookRecordPage<C extends string = string> {
  readonly items: HookRecord<C>[];
  readonly page: number;
  readonly per_page: number;
  readonly total_items: number;
  readonly total_pages: number;
  readonly next_cursor: string | null;
}

/** The values that make a group, and results by the names of the functions: `'sum(total)'`. Null without any value. */
interface HookAggregate {
  readonly group: Readonly<Record<string, Json>>;
  readonly count: number;
  readonly [sumOrAverage: `${'sum' | 'avg'}(${string})`]: number | null;
  readonly [leastOrGreatest: `${'min' | 'max'}(${string})`]: number | string | null;
}
