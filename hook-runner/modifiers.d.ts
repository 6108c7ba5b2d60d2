// Members of an update that change a field from what it is. Served after `hooks.d.ts` at GET …/hooks/types.

/** Changes of fields from what they are: `{ 'count+': 1 }` on a number, `{ 'tags-': ['old'] }` on a field of many. */
type Modifiers<F> = {
  [
    K in keyof F as NonNullable<F[K]> extends number | readonly unknown[] ? `${K & string}${'+' | '-'}`
      : never
  ]?: F[K];
};
