// The types of an app, as the client is made for: collections with their records, and custom routes.

/** A record as the API sends it. */
export interface RecordShape {
  id: string;
  fields: object;
  created_at?: string | undefined;
  updated_at?: string | undefined;
}

/** A relation that `expand` can follow, forwards or backwards (`comments_via_issue`). */
export interface RelationShape {
  /** The collection that it leads to. */
  to: string;
  many: boolean;
}

/** The types of one collection. */
export interface CollectionShape {
  record: RecordShape;
  create: object;
  update: object;
  expand: Record<string, RelationShape>;
}

/** The types of one custom route. */
export interface RouteShape {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  response?: unknown;
}

/** The types of an app. The interface `Types` of generated types is one. */
export interface AppShape {
  collections: Record<string, CollectionShape>;
  routes: Record<string, RouteShape>;
}

/** A record of which nothing is known but that it is one. */
export interface LooseRecord {
  id: string;
  collection: string;
  // deno-lint-ignore no-explicit-any
  fields: Record<string, any>;
  created_at: string;
  updated_at: string;
}

/** The types of a client without a type argument: every name, every value. */
export interface LooseTypes {
  collections: Record<
    string,
    {
      record: LooseRecord;
      create: Record<string, unknown>;
      update: Record<string, unknown>;
      expand: Record<string, { to: string; many: boolean }>;
    }
  >;
  // deno-lint-ignore no-explicit-any
  routes: Record<string, { params: any; query: any; body: any; response: any }>;
}

/** The names of the collections of an app. */
export type CollectionName<T extends AppShape> = keyof T['collections'] & string;

/** The record of a collection. */
export type RecordOf<T extends AppShape, C extends CollectionName<T>> = T['collections'][C]['record'];

type Fields<T extends AppShape, C extends CollectionName<T>> = RecordOf<T, C>['fields'];

/** The names of a collection's fields. */
export type FieldName<T extends AppShape, C extends CollectionName<T>> = keyof Fields<T, C> & string;

type Relations<T extends AppShape, C extends CollectionName<T>> = T['collections'][C]['expand'];

/** The collection that a relation leads to; never for files and users, which have no collection. */
type Target<T extends AppShape, C extends CollectionName<T>, K extends keyof Relations<T, C>> = Extract<
  Relations<T, C>[K]['to'],
  CollectionName<T>
>;

/** What `expand` accepts: relations, and with dots the relations of what they lead to, at most three in a row. */
export type ExpandPath<T extends AppShape, C extends CollectionName<T>> = Path<T, C, [1, 1]>;

/** A distributive conditional type, which TypeScript evaluates only where it is used. */
type Path<T extends AppShape, C extends CollectionName<T>, Left extends 1[]> = C extends unknown ? {
    [K in keyof Relations<T, C> & string]:
      | K
      | (Left extends [1, ...infer Rest extends 1[]] ? `${K}.${Path<T, Target<T, C, K>, Rest>}` : never);
  }[keyof Relations<T, C> & string]
  : never;

type Head<E> = E extends `${infer First}.${string}` ? First : E;
type Tail<E, K extends string> = E extends `${K}.${infer Rest}` ? Rest : never;

type One<T extends AppShape, C extends CollectionName<T>, K extends keyof Relations<T, C>, E> =
  [Target<T, C, K>] extends [never] ? LooseRecord : Expanded<T, Target<T, C, K>, E>;

/** A record with what `expand` adds to it. */
export type Expanded<T extends AppShape, C extends CollectionName<T>, E> = [E] extends [never]
  ? RecordOf<T, C>
  : RecordOf<T, C> & {
    expand: {
      [K in Head<E> & keyof Relations<T, C> & string]: Relations<T, C>[K]['many'] extends true
        ? One<T, C, K, Tail<E, K>>[]
        : One<T, C, K, Tail<E, K>> | null;
    };
  };

/** A record of which only the fields `F` were asked for, with what `expand` adds. */
export type Selected<T extends AppShape, C extends CollectionName<T>, F, E> = [F] extends [never]
  ? Expanded<T, C, E>
  : Omit<Expanded<T, C, E>, 'fields' | 'created_at' | 'updated_at'> & {
    fields: Pick<Fields<T, C>, F & keyof Fields<T, C>>;
  } & Pick<RecordOf<T, C>, F & ('created_at' | 'updated_at') & keyof RecordOf<T, C>>;
