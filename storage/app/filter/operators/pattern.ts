// The right side of `~`, in both meanings. Without a percent sign it is searched for. With one it is a pattern for the
// whole text, in which `%` stands for any characters. Only `%` is special, and `\%` is a percent sign.
import { hasCharacters } from '../../../sql/characters.ts';
import { foldCase, foldCaseSql } from './letter-case.ts';
import type { WorkBudget } from '../work-budget.ts';

/**
 * The length of the longest pattern, in characters; nothing matches a longer one. A search takes up to the product of
 * both lengths, and nothing interrupts PostgreSQL meanwhile, neither a timeout nor its own shutdown.
 */
export const maxPatternLength = 256;

const wildcard = /(?<!\\)%/;

/** True when a text is short enough for a pattern. */
export function isPattern(text: string): boolean {
  return !hasCharacters(text, maxPatternLength + 1);
}

/** True when a text matches a pattern, letter case ignored. The budget is that of the whole decision. */
export function matches(text: string, pattern: string, budget?: WorkBudget): boolean {
  if (!isPattern(pattern)) return false;
  const folded = budget?.folded(text) ?? foldCase(text);
  const [first = '', ...others] = foldCase(pattern).split(wildcard).map((part) =>
    part.replaceAll('\\%', '%')
  );
  const last = others.pop();
  if (last === undefined) return folded.includes(first);
  if (!folded.startsWith(first) || !folded.endsWith(last)) return false;
  // The first occurrence of each part leaves the most text for the next.
  let from = first.length;
  for (const part of others) {
    const found = folded.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= folded.length - last.length;
}

/** The pattern for `like … escape '!'`. Backslashes would depend on `standard_conforming_strings`. */
export function likePattern(pattern: string): string {
  const escaped = foldCase(pattern).replaceAll('!', '!!').replaceAll('_', '!_').replaceAll('\\%', '!%');
  return wildcard.test(pattern) ? escaped : `%${escaped}%`;
}

/** `likePattern` in SQL, for an expression of type text, as patterns in a column are. Null for one that is too long. */
export function likePatternSql(expression: string): string {
  const escaped = `replace(replace(replace(${
    foldCaseSql(expression)
  }, '!', '!!'), '_', '!_'), E'\\\\%', '!%')`;
  return `case when char_length(${expression}) > ${maxPatternLength} then null when strpos(replace(${expression}, E'\\\\%', ''), '%') > 0 ` +
    `then ${escaped} else '%' || ${escaped} || '%' end`;
}

/** The test in SQL that a text matches a pattern which one of the functions above made. */
export function likeSql(text: string, pattern: string): string {
  return `${foldCaseSql(text)} like ${pattern} escape '!'`;
}
