// The definitions of a workspace, an app and a collection, as the definitions cache holds them.

/** A workspace: its public members and the opaque name of its database and login role. */
export interface WorkspaceDefinition {
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
  /** The name of the database, and of the role that may connect to it. */
  database: string;
  /** The time at which the workspace is deleted; null or absent for one that stays. */
  expires_at?: Date | null;
  /** For a clone: the id that the workspace had which it was made from. */
  source?: string | null;
}

/** An app of a workspace and the opaque name of its schema and login role. */
export interface AppDefinition {
  workspace: WorkspaceDefinition;
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
  /** The name of the schema, and of the role that owns it. */
  schema: string;
  collections: ReadonlyMap<string, CollectionDefinition>;
}

/** The identity of an app without its definition, for what outlives a request. */
export type AppIdentity = Pick<AppDefinition, 'workspace' | 'id' | 'schema'>;

/** Kinds of collection: tables of records, tables of profiles of end-users, and views, which are read only. */
export type CollectionKind = 'base' | 'auth' | 'view';

/** Name of an app's table of files; no collection can have it. */
export const filesId = '_files';

/** Kinds of field, one file each in `storage/app/fields/`. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'bool'
  | 'json'
  | 'datetime'
  | 'email'
  | 'url'
  | 'select'
  | 'relation'
  | 'file';

/** One field of a collection, as it was declared. */
export interface Field {
  name: string;
  kind: FieldKind;
  required?: boolean | undefined;
  default?: unknown;
  min?: number | undefined;
  max?: number | undefined;
  options?: readonly string[] | undefined;
  target?: string | undefined;
  /** True when it holds an array of values; `min` and `max` are then numbers of items. */
  many?: boolean | undefined;
  /** Bytes that a file may have. */
  max_size?: number | undefined;
  /** The media types that a file may have, such as `image/*`. */
  mime?: readonly string[] | undefined;
  /** True when files that no record holds any more are deleted with the record. */
  delete_with_record?: boolean | undefined;
  cascade_delete?: boolean | undefined;
  unique?: boolean | undefined;
  index?: boolean | undefined;
  /** Records get the next whole number, of the collection or of those with the same value in the field `within`. */
  autonumber?: boolean | { within?: string | undefined } | undefined;
  /** True for a text whose words `search` finds. */
  search?: boolean | undefined;
}

/** How the texts of a collection are searched. */
export interface SearchSetting {
  /** The name of one of PostgreSQL's text search configurations. */
  language: string;
  /** True when words are found in spite of typing errors, for which the server must have pg_trgm. */
  tolerant: boolean;
}

/** An index over several fields of a collection, in their order. */
export interface CollectionIndex {
  fields: readonly string[];
  /** True when no two records may have the same values in all of the fields. */
  unique?: boolean | undefined;
}

/** The actions that access rules are for. */
export type Action = 'list' | 'get' | 'create' | 'update' | 'delete';

/** The callers that pass: anyone, any signed-in principal, admins only, or those that the filter is true for. */
export type Template = 'any' | 'auth' | 'admin' | 'filter';

/** An access rule as it was set. */
export interface AccessRule {
  template: Template;
  /** Null unless the template is `filter`. */
  filter: string | null;
}

/** A collection. Its version grows with every change, and its prepared statements with it. */
export interface CollectionDefinition {
  id: string;
  kind: CollectionKind;
  fields: readonly Field[];
  indexes: readonly CollectionIndex[];
  /** Null or undefined as long as no search was asked for. */
  search?: SearchSetting | null | undefined;
  /** The query of a view; null or undefined for all others. */
  query?: string | null | undefined;
  version: number;
  created_at: Date;
  updated_at: Date;
  /** The rules that were set. An action without one admits admins only. */
  rules: Readonly<Partial<Record<Action, AccessRule>>>;
}
