// Everything that hook files can use, for editors and for `deno check`. Served at GET …/hooks/types.
// deno-lint-ignore-file no-empty-interface no-explicit-any

/** Any JSON value. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * The fields of the app's collections, by collection. The server adds all of them, so that editors complete field names, and
 * a misspelt collection is an error.
 */
interface HookCollections {}

/** The app's collections of kind `auth`. */
interface HookProfiles {}

/** Names of the app's collections, and no others. */
type CollectionName = keyof HookCollections & string;

/** Fields of the records of a collection; of any kind where it is not known which collection that is. */
type FieldsOf<C extends string> = C extends keyof HookCollections ? HookCollections[C] : Record<string, any>;

/** A record to create: its fields, optionally an id, and for the profile of a new user optionally a password. */
type NewRecord<C extends string> =
  & Partial<FieldsOf<C>>
  & { readonly id?: string }
  & (C extends keyof HookProfiles ? { readonly password?: string } : unknown);

/** A record as the API returns it. Times are in RFC 3339. */
interface HookRecord<C extends string = string> {
  readonly id: string;
  readonly collection: string;
  readonly fields: FieldsOf<C>;
  readonly created_at: string;
  readonly updated_at: string;
  /** Related records and files, where `expand` of a list has asked for them. */
  readonly expand?: Readonly<
    Record<string, HookRecord | readonly HookRecord[] | HookLinkedFile | readonly HookLinkedFile[] | null>
  >;
}

/** A file that a field holds, with a link by which anybody may read it for five minutes. */
interface HookLinkedFile extends HookFile {
  /** A path on the server. */
  readonly url: string;
  readonly expires_at: string;
}

/** The caller on whose behalf a handler runs. */
interface HookAuth {
  readonly id: string;
  /** The email address; for a master admin, the user name. For an API key, those of its maker. */
  readonly email: string;
  /** `user`, `app_admin`, `workspace_admin` or `master_admin`; `api_key`; `hook` for everything that hooks do with `$app`. */
  readonly role: string;
  readonly workspace: string | null;
  readonly app: string | null;
  /** The id of the admin who acts as this user; absent for everybody else. */
  readonly impersonator?: string;
  /** The admin who made this API key; absent for everybody else. */
  readonly maker?: { readonly id: string; readonly role: string };
}

/** The argument of a record handler. */
interface RecordHookEvent<C extends string = string> {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: C;
  /**
   * Before a create or update: the record as it would be stored. A before-hook may assign to its `fields`; the server
   * checks them again and stores them. Undefined or a deleted field is stored as null.
   */
  readonly record: HookRecord<C>;
  /** For an update, the record as it was; otherwise null. */
  readonly previous: HookRecord<C> | null;
  /** Null for a caller without a token, and for the server itself. */
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

/** The argument of an update handler: `previous` is always present. */
type UpdateHookEvent<C extends string> = RecordHookEvent<C> & { readonly previous: HookRecord<C> };

/** A handler that refuses the write by returning false or by throwing; the caller gets the thrown message. */
type BeforeWrite<C extends string, E = RecordHookEvent<C>> = (event: E) => unknown;

/** A handler that runs after the write. Its errors go to the app's log and change nothing. */
type AfterWrite<C extends string> = (event: RecordHookEvent<C>) => unknown;
type AfterUpdate<C extends string> = (event: UpdateHookEvent<C>) => unknown;

/** Runs the handler before a record of the collection is created. */
declare function onRecordBeforeCreate<C extends CollectionName>(collection: C, handler: BeforeWrite<C>): void;
/** Runs the handler after a record of the collection was created. */
declare function onRecordAfterCreate<C extends CollectionName>(collection: C, handler: AfterWrite<C>): void;
/** Runs the handler before a record of the collection is updated. */
declare function onRecordBeforeUpdate<C extends CollectionName>(
  collection: C,
  handler: BeforeWrite<C, UpdateHookEvent<C>>,
): void;
/** Runs the handler after a record of the collection was updated. */
declare function onRecordAfterUpdate<C extends CollectionName>(collection: C, handler: AfterUpdate<C>): void;
/** Runs the handler before a record of the collection is deleted. */
declare function onRecordBeforeDelete<C extends CollectionName>(collection: C, handler: BeforeWrite<C>): void;
/** Runs the handler after a record of the collection was deleted. */
declare function onRecordAfterDelete<C extends CollectionName>(collection: C, handler: AfterWrite<C>): void;

/** Refuses one field, in a before-hook. `errors` of the response has its path, message and code (`invalid` if left out). */
declare class FieldError extends Error {
  readonly path: string;
  readonly code: string;
  constructor(path: string, message: string, code?: string);
}

/** The argument of a route's handler. */
interface RouteEvent {
  /** The request, without `Authorization` and `Cookie`. Its signal is aborted when the client no longer waits. */
  readonly request: Request;
  /** The matched names of the path; `*` is the rest that a final `*` matched. */
  readonly params: Readonly<Record<string, string>>;
  /** The first value of each query parameter. */
  readonly query: Record<string, string>;
  /** Null for a caller without a token. */
  readonly auth: HookAuth | null;
  readonly requestId: string;
}

/**
 * Adds a route at `/api/workspaces/…/apps/…/custom<path>`. The method is GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, or
 * `ANY` for all of them. Without a route for HEAD, the one for GET handles it. In the path, `:name` and `{name}` match one
 * segment, and a final `*` the rest. A returned `Response` is sent as it is, also as a stream; undefined is sent as 204, and
 * any other value as JSON.
 */
declare function routerAdd(method: string, path: string, handler: (event: RouteEvent) => unknown): void;

/** The argument of a job's handler. */
interface JobEvent {
  readonly name: string;
  /** The time at which the job was due, or run by hand, in RFC 3339. */
  readonly scheduledAt: string;
  readonly requestId: string;
}

/**
 * Runs the handler on a schedule, a cron expression: `minute hour day month weekday`, in UTC, or six fields with the second
 * first. Runs are a minute apart (policy `hooks.cron_min_sec`), and one at a time. Missed ones are skipped.
 */
declare function cronAdd(name: string, expression: string, handler: (event: JobEvent) => unknown): void;

/**
 * An error response of a route. When its handler throws one, the response is `{ code, message }` with the status, from 400
 * to 599. The code is a letter and up to 63 letters, digits, `_`, `.` and `-`.
 */
declare class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string);
}

/** The error that `$app` throws when the API refuses a call, with the `code`, `status` and `errors` that a request would get. */
declare class AppError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly Pick<FieldError, 'path' | 'code' | 'message'>[];
}

/** A stored file, without its content. Its time is in RFC 3339. */
interface HookFile {
  readonly id: string;
  readonly filename: string;
  readonly mime: string;
  /** The size in bytes. */
  readonly size: number;
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

/** Writes a line to the app's log. */
type LogLine = (message: string, fields?: Record<string, unknown>) => void;

/** The app itself. All calls have the rights of an app admin, in this app only, and run its hooks. */
declare const $app: {
  readonly id: string;
  readonly workspace: string;
  /** Variables that an app admin has set. */
  readonly env: Readonly<Record<string, string>>;
  readonly records: HookRecords;
  /** Does all writes in one transaction, or none. Throws for the first that is refused, with `requests.<index>` before its message. */
  batch(requests: readonly HookBatchRequest[]): Promise<HookBatchResults>;
  /** The same for a caller, under the access rules: for `e.auth`, and for null as somebody without a token. */
  as(caller: Pick<HookAuth, 'id' | 'role'> & Partial<HookAuth> | null): HookActing;
  readonly users: {
    /** Returns null if there is none. */
    findOne(id: string): Promise<HookUser | null>;
    findByEmail(email: string): Promise<HookUser | null>;
    /** Adds a user to the workspace. Throws `conflict` if there is one with the email. */
    create(user: { email: string; password?: string }): Promise<HookUser>;
    /**
     * Changes a user in all apps of the workspace, where its policy `hooks.manage_users` allows it. A new address is not verified
     * unless `verified` is true. A new password ends all sessions.
     */
    update(id: string, changes: { email?: string; password?: string; verified?: boolean }): Promise<HookUser>;
    /** Deletes a user as a workspace admin would, where that policy allows it. */
    delete(id: string): Promise<null>;
  };
  readonly files: {
    /** Returns null if there is none. */
    get(id: string): Promise<(HookFile & { readonly bytes: Uint8Array<ArrayBuffer>; text(): string }) | null>;
    /** Stores a file. End-users can read it once they may get a record that holds it. */
    create(file: {
      filename: string;
      mime?: string;
      content: string | Uint8Array | ArrayBuffer | Blob;
    }): Promise<HookFile>;
    delete(id: string): Promise<null>;
  };
  readonly mail: {
    /** Sends a mail to one address, from `mail.from`. Throws `too_many_requests` if the app has sent too many. */
    send(mail: { to: string; subject: string; text: string; html?: string }): Promise<null>;
  };
  readonly realtime: {
    /**
     * Sends an event of that name to the collection's subscribers. The list rule and their filters read the members of
     * `data` as fields. A subscriber whose rule or filter reads a field that `data` lacks does not get the event. Admins
     * pass every rule.
     */
    publish(collection: CollectionName, event: string, data: Json): Promise<null>;
  };
  readonly log: Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogLine>>;
};
