// The calls that hook code can make to the API, with their arguments and results. Types only.

/** A value that JSON can represent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The values of a record by field name. */
export type Fields = { readonly [field: string]: Json };

/** A record as the API returns it. */
export interface HookRecord {
  readonly id: string;
  readonly collection: string;
  readonly fields: Fields;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The account that caused an event or request. Null stands for an unauthenticated client and for the server itself. */
export interface HookAuth {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly workspace: string | null;
  readonly app: string | null;
  /** The id of the admin who acts as this user; absent for everybody else. */
  readonly impersonator?: string;
  /** The admin who made this API key; absent for everybody else. */
  readonly maker?: { readonly id: string; readonly role: string };
}

/** Bytes: as text where they are UTF-8 and that is shorter, else as base64 (RFC 4648 section 4, padded). */
export type Bytes = { readonly text: string } | { readonly base64: string };

/** HTTP headers in order, with lower-case names. A name may occur more than once. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A page of records, as the API lists them. */
export interface HookRecordPage {
  readonly items: readonly HookRecord[];
  readonly page: number;
  readonly per_page: number;
  readonly total_items: number;
  readonly total_pages: number;
  readonly next_cursor: string | null;
}

/** The query of a list, with the names of the HTTP query parameters. */
export interface ListQuery {
  readonly filter?: string;
  readonly search?: string;
  readonly sort?: string;
  readonly page?: number;
  readonly per_page?: number;
  readonly cursor?: string;
  readonly expand?: string;
  readonly fields?: string;
  readonly skip_total?: boolean;
}

/** How a record is created. */
export interface CreateOptions {
  /** The unique fields: a record with the same values is updated. */
  readonly on_conflict?: string;
}

/** One write of a batch, as in requests. The server checks its members. */
export interface BatchRequest {
  readonly method: string;
  readonly collection: string;
  readonly id?: string;
  readonly on_conflict?: string;
  readonly body?: Fields;
}

/** The caller that a call acts for, under the access rules: `$app.as`. Null is a caller without a token. */
export type ActingAs = Pick<HookAuth, 'id' | 'role' | 'app'> | null;

/** The records that are counted; all without a filter. */
export type CountQuery = Pick<ListQuery, 'filter'>;

/** The query of an aggregate, with the names of the HTTP query parameters. */
export interface AggregateQuery {
  readonly fn: string;
  readonly group?: string;
  readonly filter?: string;
}

/** An end-user of the app, without secrets. */
export interface HookUser {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The changes of an end-user. */
export interface UserChanges {
  readonly email?: string;
  readonly password?: string;
  readonly verified?: boolean;
}

/** The metadata of a stored file. */
export interface HookFileInfo {
  readonly id: string;
  readonly filename: string;
  readonly mime: string;
  readonly size: number;
  readonly created_at: string;
}

/** A mail to one address. `html` is an alternative to the text. */
export interface HookMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** A request to another server, which policy `hooks.egress` must allow. */
export interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Bytes | null;
  readonly redirect: 'follow' | 'manual' | 'error';
}

/** The complete response to a `FetchRequest`. */
export interface FetchResponse {
  readonly url: string;
  readonly redirected: boolean;
  readonly status: number;
  readonly status_text: string;
  readonly headers: Headers;
  readonly body: Bytes | null;
}

/** The error of a call that the API refused: the body and the status of an error response. */
export interface CallError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /** The members that are wrong; left out for an error about something else. */
  readonly errors?: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** All calls: their arguments, and the value of a successful result. Null stands for something missing, or for no value. */
export interface CallTable {
  'records.findOne': { args: readonly [collection: string, id: string]; value: HookRecord | null };
  'records.list': { args: readonly [collection: string, query: ListQuery]; value: HookRecordPage };
  'records.count': { args: readonly [collection: string, query: CountQuery]; value: number };
  'records.aggregate': {
    args: readonly [collection: string, query: AggregateQuery];
    value: { readonly items: readonly { readonly [name: string]: Json }[] };
  };
  'records.create': {
    args: readonly [collection: string, fields: Fields, options: CreateOptions];
    value: HookRecord;
  };
  'records.update': { args: readonly [collection: string, id: string, fields: Fields]; value: HookRecord };
  'records.delete': { args: readonly [collection: string, id: string]; value: null };
  'batch': {
    args: readonly [requests: readonly BatchRequest[]];
    value: { readonly results: readonly { readonly status: number; readonly body: Json }[] };
  };
  'users.findOne': { args: readonly [id: string]; value: HookUser | null };
  'users.findByEmail': { args: readonly [email: string]; value: HookUser | null };
  'users.create': {
    args: readonly [user: { readonly email: string; readonly password?: string }];
    value: HookUser;
  };
  'users.update': { args: readonly [id: string, changes: UserChanges]; value: HookUser };
  'users.delete': { args: readonly [id: string]; value: null };
  'files.get': { args: readonly [id: string]; value: (HookFileInfo & { readonly body: Bytes }) | null };
  'files.create': {
    args: readonly [file: { readonly filename: string; readonly mime: string; readonly body: Bytes }];
    value: HookFileInfo;
  };
  'files.delete': { args: readonly [id: string]; value: null };
  'mail.send': { args: readonly [mail: HookMail]; value: null };
  'realtime.publish': { args: readonly [collection: string, event: string, data: Json]; value: null };
  'fetch': { args: readonly [request: FetchRequest]; value: FetchResponse };
}
