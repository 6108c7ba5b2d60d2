// The field kinds: one file each, listed here and nowhere else.
import type { Field, FieldKind } from '../../definition.ts';
import { bool } from './bool.ts';
import { datetime } from './datetime.ts';
import { email } from './email.ts';
import { file } from './file.ts';
import { json } from './json.ts';
import type { Kind } from './kind.ts';
import { manyOf } from './many.ts';
import { number } from './number.ts';
import { relation } from './relation.ts';
import { select } from './select.ts';
import { text } from './text.ts';
import { url } from './url.ts';

/** Every kind of field, by its name. */
export const kinds: Record<FieldKind, Kind> = {
  text,
  number,
  bool,
  json,
  datetime,
  email,
  url,
  select,
  relation,
  file,
};

/** What decides how the values of a field are stored and compared. */
export type FieldShape = Pick<Field, 'kind' | 'many'>;

/** The kind of a field, which may hold many values of it. */
export function kindOf({ kind, many }: FieldShape): Kind {
  return many === true ? manyOf(kinds[kind]) : kinds[kind];
}

/** The id of the collection, or `filesId`, whose rows a field's values name; undefined when they name none. */
export function pointsTo(field: Field): string | undefined {
  return kinds[field.kind].pointsTo(field);
}

/** The expression that selects a column of another type than its kind's, as `workspace.users_public` has them. */
export function selectCast(column: string, kind: FieldKind): string {
  return `${column}::${kinds[kind].column}${kinds[kind].output}`;
}

/** The names of all kinds, in the order of the table. */
export const kindNames = Object.keys(kinds) as FieldKind[];
