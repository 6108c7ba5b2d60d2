// What a filter may see of a collection: its columns, and where its relations lead.
import type { AppDefinition, CollectionDefinition, Field } from '../../definition.ts';
import type { Comparable } from '../fields/kind.ts';
import { kinds, pointsTo } from '../fields/kinds.ts';
import { readableCollection, shownFields, usersId, usersView } from '../../workspace/identities.ts';
import type { TableName } from '../tables.ts';

/** A column that a filter may name. What is not listed does not exist for it, and no message tells the difference. */
export interface FilterColumn {
  type: Comparable;
  /** Whether it holds email addresses: they are stored in lower case, and compared without regard to it. */
  isEmail?: boolean;
  /** For a relation, the name of the collection it points to. */
  target?: string | undefined;
  /** Where the column is when a profile shows it of its user: in the row with the same id. */
  ofUser?: FilterSource;
}

/** A table and those of its columns that a filter may name. */
export interface FilterSource {
  table: TableName;
  columns: ReadonlyMap<string, FilterColumn>;
}

/** Where names are looked up: the filtered collection, and the targets of relations by name. */
export interface FilterScope {
  source: FilterSource;
  target(name: string): FilterSource | undefined;
}

const ownColumns: readonly (readonly [string, FilterColumn])[] = [
  ['id', { type: 'uuid' }],
  ['created_at', { type: 'datetime' }],
  ['updated_at', { type: 'datetime' }],
];

const shownColumns = new Map(
  shownFields.map(({ name, kind }): [string, FilterColumn] => [name, kindColumn(kind)]),
);

/** The user of a profile: what the profile shows of it. */
const userOfProfile: FilterSource = { table: usersView, columns: shownColumns };
const profileColumns = [...shownColumns].map(([name, column]): [string, FilterColumn] => [
  name,
  { ...column, ofUser: userOfProfile },
]);

/** The workspace's users as apps see them, without whatever tells how they sign in. */
const users: FilterSource = {
  table: usersView,
  columns: new Map([
    ...ownColumns,
    ['email', kindColumn('email')],
    ['verified', { type: 'boolean' }],
    ['last_login', { type: 'datetime' }],
  ]),
};

/** The scope of a collection's filters and rules. */
export function filterScope(app: AppDefinition, collection: CollectionDefinition): FilterScope {
  return {
    source: filterSource(app.schema, collection),
    target: (name) => {
      const target = readableCollection(app, name);
      return target === undefined ? undefined : filterSource(app.schema, target);
    },
  };
}

function filterSource(schema: string, { id, kind, fields }: CollectionDefinition): FilterSource {
  if (id === usersId) return users;
  const columns = fields.map((field): [string, FilterColumn] => [
    field.name,
    { ...kindColumn(field.kind), target: pointsTo(field) },
  ]);
  const shown = kind === 'auth' ? profileColumns : [];
  return { table: { schema, collection: id }, columns: new Map([...columns, ...shown, ...ownColumns]) };
}

function kindColumn(kind: Field['kind']): FilterColumn {
  return { type: kinds[kind].comparable, isEmail: kinds[kind].isLowerCase };
}
