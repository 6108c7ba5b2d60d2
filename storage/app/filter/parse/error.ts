// The error of a filter, with its position in the text.

/** The codes of the two errors; both are responses with `400`. */
export type FilterErrorCode = 'parse_error' | 'unknown_column';

/** A filter that cannot be used. The message is for its author; `position` counts characters from 1. */
export class FilterError extends Error {
  readonly code: FilterErrorCode;
  readonly position: number;

  constructor(code: FilterErrorCode, message: string, position: number) {
    super(`${message} (at character ${position})`);
    this.name = 'FilterError';
    this.code = code;
    this.position = position;
  }
}

const maxQuotedCharacters = 40;

/** A piece of the filter for a message: quoted, and cut short. */
export function quoted(piece: string): string {
  const characters = [...piece];
  const cut = characters.length > maxQuotedCharacters
    ? [...characters.slice(0, maxQuotedCharacters), '…']
    : characters;
  return JSON.stringify(cut.join(''));
}
