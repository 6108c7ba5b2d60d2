// Quotes names and texts for SQL that takes no parameters (DDL).

/**
 * A quoted identifier. PostgreSQL cuts names off after 63 bytes, so that two could become one, and does not allow NUL.
 * Both throw `RangeError`. https://www.postgresql.org/docs/18/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS
 */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0') || Buffer.byteLength(name) > 63) {
    throw new RangeError('not an identifier');
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** A quoted string literal, whatever `standard_conforming_strings` is. */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new RangeError('not a text');
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
