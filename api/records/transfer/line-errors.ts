// Errors of the lines of a file, and the errors that name them to the client.
import { ApiError, type FieldError, fieldsError } from '../../errors.ts';

/** The name of a line in the paths of errors; with the number of a line and, for one of its members, its name. */
export function lineName(line: number, member = ''): string {
  return member === '' ? `line ${line}` : `line ${line}: ${member}`;
}

/** The errors of a line as those of the file. */
export function errorsOfLine(line: number, error: ApiError): FieldError[] {
  return error.errors.length === 0
    ? [{ field: lineName(line), reason: error.message }]
    : error.errors.map(({ field, ...rest }) => ({ field: lineName(line, field), ...rest }));
}

/** The error of a file for what is wrong with one line of it. */
export function lineError(line: number, reason: string): ApiError {
  return fieldsError('validation', [{ field: lineName(line), reason }]);
}
