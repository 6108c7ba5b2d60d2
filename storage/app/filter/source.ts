// The columns of a collection that a filter may name, and where its relations lead.
import type { AppDefinition, CollectionDefinition } from '../../definition.ts';
import type { Comparable } from '../fields/kind.ts';
import { type FieldShape, kindOf, pointsTo } from '../fields/kinds.ts';
import { readableCollection, shownFields, usersId, usersView } from '../../workspace/identities.ts';
import type { TableName } from '../tables.ts';

/** A column that a filter may name. Errors do not tell an unlisted column from one that does not exist. */
export interface FilterColumn {
  type: Comparable;
  /** True when it holds an array of values of the type. */
  isMany?: boolean;
  /** True when it holds email addresses: stored in lower case, and compared without regard to case. */
  isEmail?: boolean;
  /** For a field that points to rows, the id of their collection. */
  target?: string | undefined;
  /** The row that holds the column, with the same id, for what a profile shows of its user. */
  ofUser?: FilterSource;
}

/** A table and the columns of it that a filter may name. */
export interface FilterSource {
  /** The id of the collection. */
  id: string;
  table: TableName;
  columns: ReadonlyMap<string, FilterColumn>;
}

/** The scope of names: the filtered collection, and the targets of relations by name. */
export interface FilterScope {
  source: FilterSource;
  target(name: string): FilterSource | undefined;
  /** The `auth` collection of that name, in which the caller may have a record. */
  profile(name: string): FilterSource | undefined;
  /** True for the filter of a caller, who reads its own profile as its `get` rule admits. */
  isOfCaller?: boolean;
  /** See `ColumnTerm`. */
  level: number;
  /** The scope of the filtered record; undefined in that scope itself. */
  root?: FilterScope;
}

const ownColumns: readonly (readonly [string, FilterColumn])[] = [
  ['id', { type: 'uuid' }],
  ['created_at', { type: 'datetime' }],
  ['updated_at', { type: 'datetime' }],
];

const shownColumns = new Map(
  shownFields.map(({ name, kind }): [string, FilterColumn] => [name, kindColumn({ kind })]),
);

/** The user of a profile: the fields that the profile shows. */
const userOfProfile: FilterSource = { id: usersId, table: usersView, columns: shownColumns };
const profileColumns = [...shownColumns].map(([name, column]): [string, FilterColumn] => [
  name,
  { ...column, ofUser: userOfProfile },
]);

/** The workspace's users as apps see them, without anything about how they sign in. */
const users: FilterSource = {
  id: usersId,
  table: usersView,
  columns: new Map([
    ...ownColumns,
    ['email', kindColumn({ kind: 'email' })],
    ['verified', { type: 'boolean' }],
    ['last_login', { type: 'datetime' }],
  ]),
};

/** The scope of a collection's filters and rules. */
export function filterScope(app: AppDefinition, collection: CollectionDefinition): FilterScope {
  return { level: 0, source: filterSource(app.schema, collection), ...appScope(app) };
}

/** The collections of an app, as paths name them. */
export function appScope(app: AppDefinition): Pick<FilterScope, 'target' | 'profile'> {
  return {
    target: (name) => {
      const target = readableCollection(app, name);
      // Nothing points to the rows of a view: they are no records of their own.
      return target === undefined || target.kind === 'view' ? undefined : filterSource(app.schema, target);
    },
    profile: (name) => {
      const profiles = app.collections.get(name);
      return profiles?.kind === 'auth' ? filterSource(app.schema, profiles) : undefined;
    },
  };
}

function filterSource(schema: string, { id, kind, fields }: CollectionDefinition): FilterSource {
  if (id === usersId) return users;
  const columns = fields.map((field): [string, FilterColumn] => [
    field.name,
    { ...kindColumn(field), target: pointsTo(field) },
  ]);
  const shown = kind === 'auth' ? profileColumns : [];
  return { id, table: { schema, collection: id }, columns: new Map([...columns, ...shown, ...ownColumns]) };
}

function kindColumn(field: FieldShape): FilterColumn {
  const { comparable, isLowerCase } = kindOf(field);
  return { type: comparable, isEmail: isLowerCase, isMany: field.many === true };
}
