// The protocol between the API and a hook runner over descriptor 3. Types only.
//
// Framing in both directions: u32 big-endian length, then one JSON object in UTF-8. Before parsing, the API rejects a
// length of 0 or above 1 MiB, invalid UTF-8, more than 64 levels, more than 100,000 tokens, and a root that is no object.
// The runner rejects a length above 16 MiB, which fits a body of 8 MiB as base64 and the `load` with all sources.
//
// The descriptor identifies the runner, and the API trusts no frame. It kills a runner for an unknown `type`, an `id` that
// is not open, or a member of the wrong type. Frames for a cancelled invocation are dropped.
//
// Ids are u32 counters from 1, chosen by the side that starts the exchange: one counter of the API for invocations (`load`,
// `event`, `route`, `cron`) and pings, another of the runner for calls.
//
// Sequence: runner `ready`; API `load`; runner `loading` any number of times and `loaded` once; then invocations, at
// most 32 at a time.
//   event, cron   →  result
//   route         →  response (end: true), or response, chunk…, end; or result (failed, http_error) at any point
//   call          →  result (of the API), possibly after the end of the invocation that it belongs to
// The runner exits when descriptor 3 is closed.

import type { ActingAs, Bytes, CallError, CallTable, Fields, Headers, HookAuth, Json } from './calls.ts';
import type { ChannelLimits } from './channel-limits.ts';
import type { EventNameOf, EventPayloads } from './events.ts';
import type { Fault, FileRegistrations, RefusedField } from './registrations.ts';

/** One hook file as its author wrote it. */
export interface SourceFile {
  /** The file's name, without a path. */
  readonly file: string;
  readonly source: string;
}

/** The whole code of the app, sent once after `ready`. The response is `loaded`. Calls of top-level code have its id as parent. */
export interface LoadFrame {
  readonly type: 'load';
  readonly id: number;
  readonly workspace: string;
  readonly app: string;
  readonly generation: number;
  /** Ordered by file name (code points). Handlers run in this order, then in the order of their registration. */
  readonly files: readonly SourceFile[];
  /** `$app.env`. */
  readonly env: { readonly [name: string]: string };
  readonly limits: ChannelLimits;
}

/** One event, with the payload of its subject. All its handlers run in order; of a record event, those for the collection. */
export type EventInvocation = {
  [Subject in keyof EventPayloads]: EventPayloads[Subject] & {
    readonly type: 'event';
    readonly id: number;
    readonly event: EventNameOf<Subject>;
    readonly auth: HookAuth | null;
    readonly request_id: string;
  };
}[keyof EventPayloads];

/** One request to a custom route. `method` and `path` are those of a `RouteRegistration` of this runner. */
export interface RouteInvocation {
  readonly type: 'route';
  readonly id: number;
  readonly method: string;
  readonly path: string;
  /** The path parameters, percent-decoded. The trailing `*` is named `*`. */
  readonly params: { readonly [name: string]: string };
  /** The request as received: `url` is its target, usually a path; `method` may be HEAD for a route of GET. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Headers;
    readonly body: Bytes | null;
  };
  readonly auth: HookAuth | null;
  readonly request_id: string;
}

/** One run of a job. `name` is the name of a `JobRegistration` of this runner. */
export interface CronInvocation {
  readonly type: 'cron';
  readonly id: number;
  readonly name: string;
  /** The time at which it was due: RFC 3339. */
  readonly scheduled_at: string;
  readonly request_id: string;
}

/** Cancels an invocation: its signal is aborted, its calls are rejected, its result is dropped. */
export interface CancelFrame {
  readonly type: 'cancel';
  readonly id: number;
}

/** Tests that the runner's event loop turns. The response is `pong`. */
export interface PingFrame {
  readonly type: 'ping';
  readonly id: number;
}

/** Adds credit to a response's body: so many more bytes, before any base64, may be sent. */
export interface CreditFrame {
  readonly type: 'credit';
  readonly id: number;
  readonly bytes: number;
}

/** The result of a `call`: its value as in `CallTable`, or the error for the author's code. */
export type CallResult =
  | { readonly type: 'result'; readonly id: number; readonly ok: true; readonly value: Json }
  | {
    readonly type: 'result';
    readonly id: number;
    readonly ok: false;
    readonly error: CallError;
  };

/** A frame from the API to the runner. */
export type ToRunner =
  | LoadFrame
  | EventInvocation
  | RouteInvocation
  | CronInvocation
  | CancelFrame
  | PingFrame
  | CreditFrame
  | CallResult;

/** The first frame of a runner. `protocol` is 1. */
export interface ReadyFrame {
  readonly type: 'ready';
  readonly protocol: number;
}

/**
 * The files whose top-level code is under way, whenever they are others than before: should the process end or get stuck now,
 * it is one of them.
 */
export interface LoadingFrame {
  readonly type: 'loading';
  readonly id: number;
  readonly files: readonly string[];
}

/** The files that are live, and the faults of the others. */
export interface LoadedFrame {
  readonly type: 'loaded';
  readonly id: number;
  readonly files: readonly FileRegistrations[];
  readonly errors: readonly Fault[];
}

/** The outcome of an invocation. */
export type InvocationResult =
  /** `changes` are the record's fields that before-handlers have changed; null clears a field. `{}` for other events. */
  | { readonly type: 'result'; readonly id: number; readonly outcome: 'done'; readonly changes: Fields }
  /** A before-handler refused. `message` and `field` are for the client; `fault` is for the log, and null after false. */
  | {
    readonly type: 'result';
    readonly id: number;
    readonly outcome: 'veto';
    readonly message: string;
    readonly fault: Fault | null;
    readonly field?: RefusedField | undefined;
  }
  /** Handlers threw, or returned what cannot be sent. The other handlers of an after-event have run. */
  | {
    readonly type: 'result';
    readonly id: number;
    readonly outcome: 'failed';
    readonly faults: readonly Fault[];
  }
  /** A route threw an `HttpError`. `status` is 400 to 599. */
  | {
    readonly type: 'result';
    readonly id: number;
    readonly outcome: 'http_error';
    readonly status: number;
    readonly code: string;
    readonly message: string;
  };

/** The response of a route. With `end: true` it is complete: no `chunk` and no `end` follow. */
export interface ResponseFrame {
  readonly type: 'response';
  readonly id: number;
  /** 200 to 599. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: Bytes | null;
  readonly end: boolean;
}

/** A chunk of a response's body: at most 64 KiB, within the credit. */
export interface ChunkFrame {
  readonly type: 'chunk';
  readonly id: number;
  readonly body: Bytes;
}

/** The end of a response's body. */
export interface EndFrame {
  readonly type: 'end';
  readonly id: number;
}

/**
 * A call of hook code to the API. `parent` is the open invocation that it belongs to. With `as`, a call about records acts for
 * that caller, else with the rights of an admin of the app.
 */
export type CallFrame = {
  [Method in keyof CallTable]: {
    readonly type: 'call';
    readonly id: number;
    readonly parent: number;
    readonly method: Method;
    readonly args: CallTable[Method]['args'];
    readonly as?: ActingAs | undefined;
  };
}[keyof CallTable];

/** The level of a log line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A line for the app's log, from `console.*`, `$app.log` or an uncaught error. */
export interface LogFrame {
  readonly type: 'log';
  /** The invocation that wrote it, which may have ended; 0 for none. */
  readonly parent: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly file: string | null;
  readonly fields: { readonly [name: string]: Json } | null;
}

/** The response to a `ping`. */
export interface PongFrame {
  readonly type: 'pong';
  readonly id: number;
}

/** A frame from the runner to the API. */
export type FromRunner =
  | ReadyFrame
  | LoadingFrame
  | LoadedFrame
  | InvocationResult
  | ResponseFrame
  | ChunkFrame
  | EndFrame
  | CallFrame
  | LogFrame
  | PongFrame;
