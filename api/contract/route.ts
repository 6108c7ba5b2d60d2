// A route is declared once, as a literal; router, authorization, validation, OpenAPI and tests are derived from it.
import type { ServerResponse } from 'node:http';
import type { Deps } from '../deps.ts';
import type { ErrorCode, FieldError } from '../errors.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { Schema } from './schema.ts';
import type { Principal, Scope } from '../scope.ts';
import type { RouteTarget } from '../target.ts';

/** Methods that routes are declared with; HEAD follows from GET. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

type ParamNames<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}` ? Name
  : never;

type PrincipalOf<S extends Scope> = S extends 'open' ? null
  : S extends 'anyone' ? Principal | null
  : Principal;

/** Where a request came from, for audit, sessions and limits. */
export interface RequestOrigin {
  requestId: string;
  ip: string;
  userAgent: string;
}

/** What a handler may add to its answer. */
export interface ResponseOverrides {
  /** Set to answer with another status than the declared one. */
  status: number | undefined;
  readonly headers: [string, string][];
}

/** A body that is read as it comes, whatever it is. */
export interface BodyStream {
  /** What `Content-Length` says, if anything. */
  contentLength: number | undefined;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
  /** To be read once. Throws when the client goes away before the end. */
  bytes: AsyncIterable<Uint8Array>;
}

/** Where a handler writes an answer of its own. */
export interface ResponseWriter {
  /** Nothing has been written to it. */
  response: ServerResponse;
  /** To be sent with whatever is answered: security, CORS, the request id. */
  headers: HeaderList;
  /** The client's address as limits count it. */
  address: string;
  /** Counts a file as open for its address until the answer is through. Throws `429` when there are too many. */
  reserveFile(): void;
  /** Reads the whole body, of any type, once. Throws `413`, `429`, and `422` when the client goes away before the end. */
  body(): Promise<Buffer>;
}

/** What a handler returns that writes the answer itself, such as a stream. */
export class RawResponse {
  /** Begins the answer, and does not wait for its end. Throws `ApiError` as long as nothing is written. */
  readonly write: (line: ResponseWriter) => Promise<void>;

  constructor(begin: (line: ResponseWriter) => Promise<void>) {
    this.write = begin;
  }
}

/** One request as a handler sees it: checked, authorized, its target found. */
export interface RequestContext<Path extends string, S extends Scope, Query, Body, Admitted = unknown> {
  deps: Deps;
  params: Readonly<Record<ParamNames<Path>, string>>;
  target: RouteTarget<Path>;
  principal: PrincipalOf<S>;
  query: Query;
  body: Body;
  /** What the route's `admit` made of the request. */
  admitted: Admitted;
  /** The query's parameters as they came, the first value of each. */
  queryParameters(): Readonly<Record<string, string>>;
  origin: RequestOrigin;
  overrides: ResponseOverrides;
  /** The value of a cookie of ours, by its name without the prefix (`at`, `rt`). */
  cookie(name: 'at' | 'rt'): string | undefined;
  /** The body as it comes, of a route with `readsBody`. */
  bodyStream(): BodyStream;
  /** The text of a bearer token, unchecked; for logout, which takes an expired one too. */
  bearer(): string | undefined;
  /** When the request arrived: the one clock reading of the request. */
  now: Date;
}

/** A request before its body is read. */
export type ContextBeforeBody<Path extends string, S extends Scope> = Omit<
  RequestContext<Path, S, unknown, unknown>,
  'body' | 'query' | 'admitted'
>;

/** The literal. `query` and `body` are checked before `handle` runs; a route without `body` never reads one. */
export interface RouteSpec<Path extends string, S extends Scope, Query, Body, Answer, Admitted> {
  method: Method;
  path: Path;
  /** One sentence for the API description. */
  summary: string;
  scope: S;
  /** Only `/healthz`, `/readyz` and `/_/setup` are answered before the first-run setup. */
  beforeSetup?: boolean;
  /** Only `/healthz`: not counted by the rate limit. */
  unlimited?: boolean;
  /** Refuses an `Origin` that is neither our own nor in the CORS allowlist, also without a cookie. */
  refusesForeignOrigin?: boolean;
  query?: Schema<Query>;
  /** Headers that only this route reads, and what each is for. */
  headers?: Readonly<Record<string, string>>;
  body?: Schema<Body>;
  /** The handler reads the body itself, and bounds it itself: no cap of the server's is applied. */
  readsBody?: boolean;
  /** A body of any type goes to whoever answers in the handler's place. */
  passesBody?: boolean;
  /** An empty body counts as `{}`. */
  bodyMayBeEmpty?: boolean;
  /** 101 only where another protocol takes over, and never from a handler. */
  status: 101 | 200 | 201;
  response: Schema<Answer>;
  /** Other statuses that `reply.status` may choose, with the shape of their body. */
  otherResponses?: Readonly<Record<number, Schema<unknown>>>;
  /** Other statuses that an answer of the handler's own may have, and what each means; `default` is any other. */
  rawStatuses?: Readonly<Record<string, string>>;
  /** Other media types that an answer of the handler's own may have, and what each means. */
  rawTypes?: Readonly<Record<string, string>>;
  /** Media type of the answer when it is not `application/json`. */
  contentType?: string;
  /** Errors that this route answers besides those that follow from its scope, target, query and body. */
  errors?: readonly ErrorCode[];
  /**
   * What `handle` would refuse in a body, asked only when `body` refuses it too: then its sender is told all that is wrong
   * at once.
   */
  bodyErrors?(
    call: ContextBeforeBody<Path, S>,
    body: Readonly<Record<string, unknown>>,
  ): Promise<readonly FieldError[]>;
  /**
   * Throws `404` when what the rest of the path names is not there. Asked only when the body is refused, as that is said
   * before: `handle` finds out for itself.
   */
  requireTarget?(call: ContextBeforeBody<Path, S>): unknown;
  /** Decides what can be decided before the body is read (access rules). Throws `ApiError`. */
  admit?(call: ContextBeforeBody<Path, S>): Admitted | Promise<Admitted>;
  handle(
    call: RequestContext<Path, S, Query, Body, Admitted>,
  ): Answer | RawResponse | Promise<Answer | RawResponse>;
}

/** A route of any types, as the list and everything derived from it sees it. */
export type AnyRoute = RouteSpec<string, Scope, unknown, unknown, unknown, unknown>;

/** Declares a route; the types of its handler follow from the literal. */
export function route<
  const Path extends string,
  S extends Scope,
  Answer,
  Query = undefined,
  Body = undefined,
  Admitted = undefined,
>(
  spec: RouteSpec<Path, S, Query, Body, Answer, Admitted>,
): AnyRoute {
  // The literal has been checked against its own types; only the erased form leaves.
  return spec as unknown as AnyRoute;
}
