// The right side of `~`, in both meanings. Without a percent sign it is searched for; with one it is a pattern for the whole
// text, in which `%` stands for any characters. Only `%` is special, and `\%` is a percent sign.
import { hasCharacters } from '../../../sql/characters.ts';
import { foldCase, foldCaseSql } from './letter-case.ts';
import type { WorkBudget } from '../work-budget.ts';

/**
 * Length of the longest pattern, in characters; nothing matches a longer one. To search takes up to the product of both
 * lengths, and nothing stops PostgreSQL meanwhile, neither a timeout nor its own shutdown.
 */
export const maxPatternLength = 256;

const wildcard = /(?<!\\)%/;

/** Whether a text is short enough for a pattern. */
export function isPattern(text: string): boolean {
  return !hasCharacters(text, maxPatternLength + 1);
}

/** Whether a text matches a pattern, letter case ignored. `patience` is that of the decision which this is a part of. */
export function matches(text: string, pattern: string, patience?: WorkBudget): boolean {
  if (!isPattern(pattern)) return false;
  const folded = patience?.folded(text) ?? foldCase(text);
  const [first = '', ...others] = foldCase(pattern).split(wildcard).map((part) =>
    part.replaceAll('\\%', '%')
  );
  const last = others.pop();
  if (last === undefined) return folded.includes(first);
  if (!folded.startsWith(first) || !folded.endsWith(last)) return false;
  // Taking each part where it first occurs leaves the most room for the next.
  let from = first.length;
  for (const part of others) {
    const found = folded.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= folded.length - last.length;
}

/** A pattern for `like … escape '!'`; backslashes would depend on `standard_conforming_strings`. */
export function likePattern(pattern: string): string {
  const escaped = foldCase(pattern).replaceAll('!', '!!').replaceAll('_', '!_').replaceAll('\\%', '!%');
  return wildcard.test(pattern) ? escaped : `%${escaped}%`;
}

/** `likePattern` in SQL, of an expression of type text: for patterns that a column holds. Null for too long a one. */
export function likePatternSql(expression: string): string {
  const escaped = `replace(replace(replace(${
    foldCaseSql(expression)
  }, '!', '!!'), '_', '!_'), E'\\\\%', '!%')`;
  return `case when char_length(${expression}) > ${maxPatternLength} then null when strpos(replace(${expression}, E'\\\\%', ''), '%') > 0 ` +
    `then ${escaped} else '%' || ${escaped} || '%' end`;
}

/** Whether a text expression matches what one of the functions above made, in SQL. */
export function likeSql(text: string, pattern: string): string {
  return `${foldCaseSql(text)} like ${pattern} escape '!'`;
}
