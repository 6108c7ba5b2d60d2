// The rows of a CSV file (RFC 4180), as it arrives.
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { lineError } from './line-errors.ts';

/** A row of a file. */
export interface CsvRow {
  /** The number of its first line, from 1. */
  line: number;
  /** The values; null for an empty one without quotes. */
  cells: readonly (string | null)[];
}

/** Faults of files, by the codes of the parser. */
const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quote must be followed by a comma or by the end of the line',
  INVALID_OPENING_QUOTE: 'a quote must be at the beginning of a value; write one within a value twice',
  CSV_MAX_RECORD_SIZE: 'is too long',
};

/** Reads rows. Throws `400 validation` for a file that is no CSV, and for a row of more than `maxBytes`. */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<CsvRow> {
  const parser = parse({
    bom: true,
    max_record_size: maxBytes,
    relax_column_count: true,
    cast: (text, { quoting }) => text === '' && !quoting ? null : text,
  });
  const source = Readable.from(bytes, { objectMode: false });
  // `pipe` passes no errors on.
  source.once('error', (error) => parser.destroy(error));
  const rows: AsyncIterable<(string | null)[]> = source.pipe(parser);
  // The parser's own count takes a line end of two characters for two within quotes.
  let line = 1;
  try {
    for await (const cells of rows) {
      if (!isBlank(cells)) yield { line, cells };
      line += 1 + cells.reduce((sum, cell) => sum + lineEnds(cell), 0);
    }
  } catch (error) {
    throw explain(error);
  } finally {
    source.destroy();
  }
}

/** True of an empty line. */
function isBlank(cells: readonly (string | null)[]): boolean {
  return cells.length <= 1 && (cells[0] ?? null) === null;
}

function lineEnds(cell: string | null): number {
  return cell?.includes('\n') === true ? cell.split('\n').length - 1 : 0;
}

function explain(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  const line: unknown = error['lines'];
  return lineError(typeof line === 'number' ? line : 1, faults[error.code] ?? 'is not CSV');
}
