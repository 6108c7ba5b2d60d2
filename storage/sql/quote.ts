// The one way to put a name or a text into SQL that takes no parameters (DDL).

/**
 * A quoted identifier. PostgreSQL cuts names off after 63 bytes, so that two could become one, and knows no NUL:
 * both are refused. https://www.postgresql.org/docs/18/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS
 */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0') || Buffer.byteLength(name) > 63) {
    throw new RangeError('not an identifier');
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** A quoted string literal, safe whatever `standard_conforming_strings` says. */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new RangeError('not a text');
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
