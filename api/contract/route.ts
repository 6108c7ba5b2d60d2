// Declares routes, each as one literal, from which routing, authorization, validation, OpenAPI and tests are derived.
import type { ServerResponse } from 'node:http';
import type { Deps } from '../deps.ts';
import type { ErrorCode, FieldError } from '../errors.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { AppHost } from '../http/hosts/hosts.ts';
import type { PageMemory } from '../records/page-memory.ts';
import type { KeyAccess } from './key-scopes.ts';
import type { Schema } from './schema.ts';
import type { Principal, Scope } from '../scope.ts';
import type { RouteTarget } from '../target.ts';

/** The methods of routes; HEAD follows from GET. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

type ParamNames<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}` ? Name
  : never;

type PrincipalOf<S extends Scope> = S extends 'open' ? null
  : S extends 'anyone' ? Principal | null
  : Principal;

/** The origin of a request, for audit, sessions and limits. */
export interface RequestOrigin {
  requestId: string;
  ip: string;
  userAgent: string;
  /** The cookie that a sign-in has set, as the client sends it. */
  knownClient?: (() => string | undefined) | undefined;
}

/** The parts of a response that a handler may change besides the body. */
export interface ResponseOverrides {
  /** A status other than the declared one; undefined for that. */
  status: number | undefined;
  readonly headers: [string, string][];
}

/** A body of any type, for a handler that reads it as it arrives. */
export interface BodyStream {
  /** The value of `Content-Length`, if the request has one. */
  contentLength: number | undefined;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
  /** The body; can be read once. Throws when the client disconnects before the end. */
  bytes: AsyncIterable<Uint8Array>;
}

/** A form (`multipart/form-data`), for a handler that reads it as it arrives. */
export interface FormStream extends BodyStream {
  /** The most bytes that its values may have, without its files. */
  maxValueBytes: number;
  /** Counts bytes that stay in memory until the response is sent. Throws `429 too_many_requests`. */
  reserve(bytes: number): void;
}

/** The means of a handler to write its response itself. */
export interface ResponseWriter {
  /** Node's response, to which nothing has been written. */
  response: ServerResponse;
  /** The headers that every response carries: security, CORS, the request id. */
  headers: HeaderList;
  /** The key that limits count the client by. */
  address: string;
  /** Counts an open file for the client until the response is sent. Throws `429` when it has too many. */
  reserveFile(): void;
  /** Reads the whole body, of any type, once. Throws `413`, `429`, and `422` when the client disconnects before the end. */
  body(): Promise<Buffer>;
}

/** A response that its handler writes itself, such as a stream. */
export class RawResponse {
  /** Starts the response; does not wait for its end. Throws `ApiError` as long as nothing is written. */
  readonly write: (writer: ResponseWriter) => Promise<void>;

  constructor(write: (writer: ResponseWriter) => Promise<void>) {
    this.write = write;
  }
}

/** A request as its handler sees it: checked, authorized, with its target. */
export interface RequestContext<Path extends string, S extends Scope, Query, Body, Admitted = unknown> {
  deps: Deps;
  params: Readonly<Record<ParamNames<Path>, string>>;
  target: RouteTarget<Path>;
  principal: PrincipalOf<S>;
  /** The app whose origin the request is for; undefined at the server's own. */
  appHost: AppHost | undefined;
  query: Query;
  body: Body;
  /** The result of the route's `admit`. */
  admitted: Admitted;
  /** The parameters of the query, unchecked; the first value of each. */
  queryParameters(): Readonly<Record<string, string>>;
  origin: RequestOrigin;
  overrides: ResponseOverrides;
  /** The value of a cookie of the server, by its name without the prefix. */
  cookie(name: 'at' | 'rt'): string | undefined;
  /** The memory for the records of the response. */
  pageMemory(): PageMemory;
  /** The body of a route with `readsBody`. */
  bodyStream(): BodyStream;
  /** The body of a route with `acceptsForm` when it is a form; `body` is then empty. */
  form: FormStream | undefined;
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined;
  /** The text of the bearer token, unchecked; for logout, which accepts an expired one. */
  bearer(): string | undefined;
  /** The time at which the request arrived; the one reading of the clock. */
  now: Date;
}

/** A request before its body is read. */
export type ContextBeforeBody<Path extends string, S extends Scope> = Omit<
  RequestContext<Path, S, unknown, unknown>,
  'body' | 'query' | 'admitted' | 'form'
>;

/** A route. Its `query` and `body` are checked before `handle` runs; a route without `body` reads none. */
export interface RouteSpec<Path extends string, S extends Scope, Query, Body, Result, Admitted> {
  method: Method;
  path: Path;
  /** One sentence for the API description. */
  summary: string;
  scope: S;
  /** What an API key needs; `never` when left out, as open routes do. */
  key?: KeyAccess;
  /** True for `/healthz`, `/readyz` and `/_/setup`, which are served before the first-run setup. */
  beforeSetup?: boolean;
  /** True to refuse an `Origin` that may not call the API, even without a cookie. */
  refusesForeignOrigin?: boolean;
  /** True when the request adds data apart from records and files: it is refused while the disk is almost full. */
  needsDisk?: boolean;
  query?: Schema<Query>;
  /** The headers that only this route reads, with descriptions. */
  headers?: Readonly<Record<string, string>>;
  body?: Schema<Body>;
  /** True when the body may be a form instead, which the handler reads and limits itself. */
  acceptsForm?: boolean;
  /** True when the handler reads the body and limits it itself: the server's own limit does not apply. */
  readsBody?: boolean;
  /** True when the handler passes a body of any type on to a hook. */
  passesBody?: boolean;
  /** True when an empty body counts as `{}`. */
  bodyMayBeEmpty?: boolean;
  /** The status of success. 101 where another protocol takes over; no handler responds with it. */
  status: 101 | 200 | 201;
  response: Schema<Result>;
  /** Other statuses that `overrides.status` may be, with the schema of their body. */
  otherResponses?: Readonly<Record<number, Schema<unknown>>>;
  /** Other statuses of a `RawResponse`, with descriptions; `default` is any other. */
  rawStatuses?: Readonly<Record<string, string>>;
  /** Other media types of a `RawResponse`, with descriptions. */
  rawTypes?: Readonly<Record<string, string>>;
  /** The media type of the response when it is not `application/json`. */
  contentType?: string;
  /** The errors of this route besides those that follow from its scope, target, query and body. */
  errors?: readonly ErrorCode[];
  /** Finds what `handle` would refuse in a body. Called when `body` refuses it, too, so that the error names all at once. */
  bodyErrors?(
    context: ContextBeforeBody<Path, S>,
    body: Readonly<Record<string, unknown>>,
  ): Promise<readonly FieldError[]>;
  /**
   * Throws `404` when what the rest of the path names does not exist. Called when the body is refused, because that error comes
   * second; `handle` finds it out by itself.
   */
  requireTarget?(context: ContextBeforeBody<Path, S>): unknown;
  /** Decides before the body is read, as access rules do. Throws `ApiError`. */
  admit?(context: ContextBeforeBody<Path, S>): Admitted | Promise<Admitted>;
  handle(
    context: RequestContext<Path, S, Query, Body, Admitted>,
  ): Result | RawResponse | Promise<Result | RawResponse>;
}

/** A route of any types, as in the list of routes. */
export type AnyRoute = RouteSpec<string, Scope, unknown, unknown, unknown, unknown>;

/** Every route that reads a token says what API keys may do there. */
type KeyDeclaration<S extends Scope> = S extends 'open' ? unknown : { key: KeyAccess };

/** Declares a route; the types of its handler follow from the literal. */
export function route<
  const Path extends string,
  S extends Scope,
  Result,
  Query = undefined,
  Body = undefined,
  Admitted = undefined,
>(
  spec: RouteSpec<Path, S, Query, Body, Result, Admitted> & KeyDeclaration<S>,
): AnyRoute {
  // The compiler has checked the literal against its own types, which are erased here.
  return spec as unknown as AnyRoute;
}
