// What hook code may ask of the API: the calls, and the values that travel in them. Types only.

/** What JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Values of a record by field. */
export type Fields = { readonly [field: string]: Json };

/** A record as the API answers it. */
export interface HookRecord {
  readonly id: string;
  readonly collection: string;
  readonly fields: Fields;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Who caused what a handler is called for; null stands for nobody signed in and for the server itself. */
export interface HookAuth {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly workspace: string | null;
  readonly app: string | null;
}

/** Bytes: as text where they are UTF-8, which costs less, else as base64 (RFC 4648 section 4, padded). */
export type Bytes = { readonly text: string } | { readonly base64: string };

/** Names of HTTP headers, small, and their values, in order; a name may come twice. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A page of records, as the API answers a list. */
export interface HookRecordPage {
  readonly items: readonly HookRecord[];
  readonly page: number;
  readonly per_page: number;
  readonly total_items: number;
  readonly total_pages: number;
}

/** What a list may be asked for; as the parameters of the same names of the HTTP list. */
export interface ListQuery {
  readonly filter?: string;
  readonly sort?: string;
  readonly page?: number;
  readonly per_page?: number;
}

/** An end-user of the app, without anything secret. */
export interface HookUser {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What is known of a stored file. */
export interface HookFileInfo {
  readonly id: string;
  readonly filename: string;
  readonly mime: string;
  readonly size: number;
  readonly created_at: string;
}

/** A mail to one address; `html` comes beside the text. */
export interface HookMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** A request that leaves the server, where policy `hooks.egress` lets it. */
export interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Bytes | null;
  readonly redirect: 'follow' | 'manual' | 'error';
}

/** Its answer, whole. */
export interface FetchResponse {
  readonly url: string;
  readonly redirected: boolean;
  readonly status: number;
  readonly status_text: string;
  readonly headers: Headers;
  readonly body: Bytes | null;
}

/** Every call: what it is given, and what a good answer to it holds. null stands for missing or for nothing. */
export interface CallTable {
  'records.findOne': { args: readonly [collection: string, id: string]; value: HookRecord | null };
  'records.list': { args: readonly [collection: string, query: ListQuery]; value: HookRecordPage };
  'records.create': { args: readonly [collection: string, fields: Fields]; value: HookRecord };
  'records.update': { args: readonly [collection: string, id: string, fields: Fields]; value: HookRecord };
  'records.delete': { args: readonly [collection: string, id: string]; value: null };
  'users.findOne': { args: readonly [id: string]; value: HookUser | null };
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
