// What hook files find in `globalThis`, for editors and for `deno check`. Served at GET …/hooks/types.

/** What JSON can say. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * The fields of the app's collections by name. The app's own declarations add its collections to it, so that editors
 * complete field names; any other collection has fields of any kind.
 */
// deno-lint-ignore no-empty-interface
interface HookCollections {}

/** The app's collections of kind `auth`. */
// deno-lint-ignore no-empty-interface
interface HookProfiles {}

/** Names of the app's collections. */
type CollectionName = (keyof HookCollections & string) | (string & Record<never, never>);

/** Fields of the records of a collection. */
// deno-lint-ignore no-explicit-any
type FieldsOf<C extends string> = C extends keyof HookCollections ? HookCollections[C] : Record<string, any>;

/** What a record is made of: fields, the id that it shall have, and for the profile of somebody new a password. */
type NewRecord<C extends string> =
  & Partial<FieldsOf<C>>
  & { readonly id?: string }
  & (C extends keyof HookProfiles ? { readonly password?: string } : unknown);

/** A record as the API answers it. */
interface HookRecord<C extends string = string> {
  readonly id: string;
  readonly collection: string;
  readonly fields: FieldsOf<C>;
  /** RFC 3339. */
  readonly created_at: string;
  /** RFC 3339. */
  readonly updated_at: string;
}

/** Who caused what a handler is called for. */
interface HookAuth {
  readonly id: string;
  /** Of the master: the username. */
  readonly email: string;
  /** `user`, `app_admin`, `workspace_admin` or `master_admin`; `hook` of what hooks do with `$app`, whoever they run for. */
  readonly role: string;
  readonly workspace: string | null;
  readonly app: string | null;
}

/** What the handler of a record event is given. */
interface RecordHookEvent<C extends string = string> {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: C;
  /**
   * Before a create or update: the record as it would be stored. What is assigned to its `fields` is checked again and
   * written; undefined or a deleted field is stored as null.
   */
  readonly record: HookRecord<C>;
  /** Of an update: the record as it was. Else null. */
  readonly previous: HookRecord<C> | null;
  /** null: nobody signed in, or the server itself. */
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

/** Of an update, `previous` is always there. */
type UpdateHookEvent<C extends string> = RecordHookEvent<C> & { readonly previous: HookRecord<C> };

/** Returning false, or throwing, refuses the write; the client gets the thrown message. */
type BeforeHandler<E> = (event: E) => unknown;

/** Runs after the write; what it throws goes to the app's log and changes nothing. */
type AfterHandler<E> = (event: E) => unknown;

declare function onRecordBeforeCreate<C extends CollectionName>(
  collection: C,
  handler: BeforeHandler<RecordHookEvent<C>>,
): void;
declare function onRecordAfterCreate<C extends CollectionName>(
  collection: C,
  handler: AfterHandler<RecordHookEvent<C>>,
): void;
declare function onRecordBeforeUpdate<C extends CollectionName>(
  collection: C,
  handler: BeforeHandler<UpdateHookEvent<C>>,
): void;
declare function onRecordAfterUpdate<C extends CollectionName>(
  collection: C,
  handler: AfterHandler<UpdateHookEvent<C>>,
): void;
declare function onRecordBeforeDelete<C extends CollectionName>(
  collection: C,
  handler: BeforeHandler<RecordHookEvent<C>>,
): void;
declare function onRecordAfterDelete<C extends CollectionName>(
  collection: C,
  handler: AfterHandler<RecordHookEvent<C>>,
): void;

/** What the handler of a custom route is given. */
interface RouteEvent {
  /** The standard request, without `Authorization` and `Cookie`. Its signal is aborted when nobody waits any more. */
  readonly request: Request;
  /** By the names in the path; the rest that a last `*` matched is named `*`. */
  readonly params: Readonly<Record<string, string>>;
  /** The first value of each name in the query. */
  readonly query: Record<string, string>;
  /** null: nobody signed in. */
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

/**
 * A route at `/api/workspaces/…/apps/…/custom<path>`, of GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, or of `ANY`: all
 * of them. A HEAD goes to a route for GET where it has none. In the path `:name` and `{name}` match one segment, a last `*`
 * the rest. A returned `Response` is sent as it is, streams included; any other value as JSON; undefined as 204.
 */
declare function routerAdd(method: string, path: string, handler: (event: RouteEvent) => unknown): void;

/** What a job is given. */
interface JobEvent {
  readonly name: string;
  /** When it was due: RFC 3339. */
  readonly scheduledAt: string;
  readonly requestId: string;
}

/**
 * A job at the times of a cron expression (`minute hour day month weekday`, in UTC; six fields: seconds first). One run
 * at a time; runs that were missed are not made up.
 */
declare function cronAdd(name: string, expression: string, handler: (event: JobEvent) => unknown): void;

/**
 * Thrown by a route's handler, it is the answer: `{ code, message }` with the status (400 to 599). The code is a letter and up
 * to 63 letters, digits, `_`, `.` and `-`.
 */
declare class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string);
}

/** What `$app` throws when the API says no: `code` and `status` as in an answer over HTTP. */
declare class AppError extends Error {
  readonly status: number;
  readonly code: string;
}

/** A page of records. */
interface HookRecordPage<C extends string = string> {
  readonly items: HookRecord<C>[];
  readonly page: number;
  readonly per_page: number;
  readonly total_items: number;
  readonly total_pages: number;
}

/** What is known of a stored file. */
interface HookFile {
  readonly id: string;
  readonly filename: string;
  readonly mime: string;
  /** Bytes. */
  readonly size: number;
  /** RFC 3339. */
  readonly created_at: string;
}

/** An end-user of the app. */
interface HookUser {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Writes a line of the app's log. */
type LogLine = (message: string, fields?: Record<string, unknown>) => void;

/** The app itself. All calls have the rights of an app admin, in this app only, and fire its hooks. */
declare const $app: {
  readonly id: string;
  readonly workspace: string;
  /** Values that an app admin has set. */
  readonly env: Readonly<Record<string, string>>;
  readonly records: {
    /** null when there is none. */
    findOne<C extends CollectionName>(collection: C, id: string): Promise<HookRecord<C> | null>;
    list<C extends CollectionName>(
      collection: C,
      query?: { filter?: string; sort?: string; page?: number; per_page?: number },
    ): Promise<HookRecordPage<C>>;
    create<C extends CollectionName>(collection: C, fields: NewRecord<C>): Promise<HookRecord<C>>;
    update<C extends CollectionName>(
      collection: C,
      id: string,
      fields: Partial<FieldsOf<C>>,
    ): Promise<HookRecord<C>>;
    delete(collection: CollectionName, id: string): Promise<null>;
  };
  readonly users: {
    /** null when there is none. */
    findOne(id: string): Promise<HookUser | null>;
  };
  readonly files: {
    /** null when there is none. */
    get(id: string): Promise<(HookFile & { readonly bytes: Uint8Array<ArrayBuffer>; text(): string }) | null>;
    create(file: {
      filename: string;
      mime?: string;
      content: string | Uint8Array | ArrayBuffer | Blob;
    }): Promise<HookFile>;
    delete(id: string): Promise<null>;
  };
  readonly mail: {
    /** To one address; from the server's. Throws `too_many_requests` when the app has sent too much. */
    send(mail: { to: string; subject: string; text: string; html?: string }): Promise<null>;
  };
  readonly realtime: {
    /**
     * Sends an event of that name to the collection's subscribers. Where its list rule or their filter reads fields, it
     * reads those of `data`; who asks for one that `data` lacks gets nothing, admins excepted.
     */
    publish(collection: CollectionName, event: string, data: Json): Promise<null>;
  };
  readonly log: {
    readonly debug: LogLine;
    readonly info: LogLine;
    readonly warn: LogLine;
    readonly error: LogLine;
  };
};
