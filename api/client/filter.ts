// Filters as tagged templates: what is put in is a value, never syntax.

/** A filter expression. */
export class Filter {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The expression as the API reads it. */
  toString(): string {
    return this.#text;
  }
}

/** A value of a filter. A list is for `in`; a filter becomes a part of the expression, in parentheses. */
export type FilterValue = string | number | boolean | null | Date | Filter | readonly FilterValue[];

/**
 * A filter, as in ``f`title ~ ${words} && total > ${5}` ``. Behind `~`, a percent sign in a value stands for itself; write
 * those that stand for any characters in a filter that is a plain text.
 */
export function f(texts: TemplateStringsArray, ...values: readonly FilterValue[]): Filter {
  const parts = values.map((value, index) => {
    const before = texts[index] ?? '';
    return before + literal(value, /~\s*$/.test(before));
  });
  return new Filter(parts.join('') + texts[values.length]);
}

function literal(value: FilterValue, isPattern: boolean): string {
  if (value instanceof Filter) return `(${value})`;
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (typeof value === 'string') {
    return `'${(isPattern ? value.replaceAll('%', '\\%') : value).replaceAll(/[\\']/g, '\\$&')}'`;
  }
  if (typeof value === 'object' && value !== null) {
    return `[${value.map((item) => literal(item, false)).join(', ')}]`;
  }
  return String(value);
}
