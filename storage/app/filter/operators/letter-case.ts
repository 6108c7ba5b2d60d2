// Ignores letter case in the same way here and in PostgreSQL. Each character by itself becomes its simple lower-case
// mapping (https://www.unicode.org/reports/tr44/#Simple_Lowercase_Mapping), and a final sigma a sigma. No length
// changes, and nothing depends on a locale or on neighbours: ß, ﬁ and ı stay what they are, É is é, İ is i.

/**
 * `foldCase` in SQL, for an expression of type text. The collation is there since PostgreSQL 17. `translate` would take
 * three times as long.
 */
export function foldCaseSql(expression: string): string {
  return `replace(lower(${expression} collate "pg_c_utf8"), 'ς', 'σ')`;
}

/**
 * All but the capitals of Unicode 17, which this runtime knows and PostgreSQL 18 (Unicode 16) does not. A test compares
 * every character with the server, and says what belongs here.
 */
const knownToServer = /[^\uA7CE\uA7D2\uA7D4\u{16EA0}-\u{16EB8}]+/gu;

const ascii = /^[\0-\x7f]*$/;

/** Folds letter case: texts that differ in nothing else become the same text. */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    // The one character that `toLowerCase` makes two of.
    .replaceAll('İ', 'i')
    .replaceAll(knownToServer, (known) => known.toLowerCase())
    // `toLowerCase` also makes it of a capital sigma at the end of a word.
    .replaceAll('ς', 'σ');
}
