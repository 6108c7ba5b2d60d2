// Positions of rewritten code in the author's text, by its source map. Deno maps stacks, and not where a parser stopped.

/** Lines and columns count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Where something of the code was in its one source; null when the mappings do not know.
 * https://tc39.es/ecma426/#sec-mappings
 */
export function originalPosition(mappings: string, { line, column }: Position): Position | null {
  let sourceLine = 0;
  let sourceColumn = 0;
  let found: Position | null = null;
  for (const [index, segments] of mappings.split(';').slice(0, line).entries()) {
    let generated = 0;
    for (const segment of segments.split(',')) {
      const [columns = 0, , lines = 0, sourceColumns = 0] = numbersIn(segment);
      generated += columns;
      sourceLine += lines;
      sourceColumn += sourceColumns;
      if (index !== line - 1 || segment === '' || generated >= column) continue;
      found = { line: sourceLine + 1, column: sourceColumn + 1 };
    }
  }
  return found;
}

/** Base64 digits of five bits of a number each, the lowest first and the sign below them; the sixth says that more follow. */
function numbersIn(segment: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = digits.indexOf(letter);
    number |= (digit & 31) << shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push(number & 1 ? -(number >> 1) : number >> 1);
    number = 0;
    shift = 0;
  }
  return numbers;
}
