// Values of fields as plain texts, as CSV and forms have them.
import type { Field, FieldKind } from '../../../definition.ts';
import { parseExactJson } from '../../../sql/exact-json.ts';

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const truths: ReadonlyMap<string, boolean> = new Map([['true', true], ['false', false]]);

/** Kinds whose values are no texts, and how those are read. What cannot be read stays a text, which the kind then refuses. */
const parsers: Partial<Record<FieldKind, (text: string) => unknown>> = {
  number: (text) => jsonNumber.test(text) ? parseExactJson(text) : text,
  bool: (text) => truths.get(text) ?? text,
  json: parseExactJson,
};

/**
 * The value of a field that a text stands for. Numbers, truth values and JSON are as JSON writes them. A field of many has a JSON
 * array; any other text is its only item. Throws `SyntaxError` for a text that should be JSON and is not.
 */
export function valueOfText({ kind, many }: Field, text: string): unknown {
  if (many === true) return text.startsWith('[') ? parseExactJson(text) : text === '' ? [] : [text];
  const parse = parsers[kind];
  return parse === undefined ? text : parse(text);
}
