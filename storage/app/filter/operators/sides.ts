// Which sides a comparison may have. One that can never be true is refused when the filter is written: negated, it would
// let everybody pass.
import type { ScalarType, Term } from '../condition.ts';

/**
 * A side of a comparison, by what is known of its values before there is a record or a request. `json` is a whole `json`
 * field, `place` a place inside one, `request` a member of the body or the query.
 */
export type Side = ScalarType | 'json' | 'place' | 'request';

interface SideRow {
  noun: string;
  /** The sides that have values in common with it. Rows agree with each other. */
  comparesWith: readonly Side[];
  /** What works, for the author of a filter. */
  hint: string;
}

/** Every side. A `json` field as a whole compares with a number, since only `json` keeps all digits of one. */
const sides: Record<Side, SideRow> = {
  text: {
    noun: 'a text',
    comparesWith: ['text', 'uuid', 'place', 'request'],
    hint: 'a text compares with texts and ids',
  },
  number: {
    noun: 'a number',
    comparesWith: ['number', 'json', 'place', 'request'],
    hint: 'a number compares with numbers, by = != > >= < <=',
  },
  boolean: {
    noun: 'true or false',
    comparesWith: ['boolean', 'place', 'request'],
    hint: 'true and false compare with each other, by = != > >= < <=',
  },
  datetime: {
    noun: 'a date and time',
    comparesWith: ['datetime', 'request'],
    hint:
      "a date and time compares with datetime fields, @now and literals such as '2026-01-02', by = != > >= < <=",
  },
  uuid: {
    noun: 'an id',
    comparesWith: ['text', 'uuid', 'place', 'request'],
    hint: 'an id compares with ids and texts',
  },
  json: {
    noun: 'a json field',
    comparesWith: ['number', 'request'],
    hint: 'name a place inside the json field, such as meta.name or meta.0',
  },
  place: {
    noun: 'a value in JSON',
    comparesWith: ['text', 'number', 'boolean', 'uuid', 'place', 'request'],
    hint:
      'a value in JSON compares with texts, ids, numbers, true and false; keep a date and time in a datetime field',
  },
  request: {
    noun: 'a member of the request',
    comparesWith: ['text', 'number', 'boolean', 'datetime', 'uuid', 'json', 'place', 'request'],
    hint: 'a member of the request compares with everything, by = and !=',
  },
};

/** All sides: those of `=` and `!=`. */
export const allSides = Object.keys(sides) as Side[];

/** Sides whose values have an order. An array or object, as most `json` fields are, has none. */
export const orderedSides: readonly Side[] = allSides.filter((side) => side !== 'json');

/** Sides whose values may be texts, to search or to search for. */
export const textSides: readonly Side[] = ['text', 'uuid', 'place', 'request'];

/** The side that a term is. */
export function sideOf(term: Term): Side {
  switch (term.kind) {
    case 'value':
      return term.type;
    case 'now':
      return 'datetime';
    case 'request':
      if (term.profile !== undefined) return sideOf(term.profile.column);
      return term.part === 'body' || term.part === 'query' ? 'request' : term.type ?? 'text';
    case 'column':
      return term.type !== 'json' ? term.type : term.path.length > 0 ? 'place' : 'json';
  }
}

/** The reason why an operator, which takes some sides only, never compares these two; undefined when it may. */
export function sidesFault(takes: readonly Side[], left: Side, right: Side): string | undefined {
  if (takes.includes(left) && takes.includes(right) && sides[left].comparesWith.includes(right)) {
    return undefined;
  }
  // The hint is about the side that is at fault.
  const { hint } = sides[[left, right].find((side) => side === 'json' || !takes.includes(side)) ?? left];
  return `never compares ${sides[left].noun} with ${sides[right].noun}: ${hint}`;
}
