// What the API and a hook runner say to each other over descriptor 3, as types only.
//
// Framing, both ways: u32 big-endian length of the text, then one JSON object in UTF-8. The API refuses, before it
// parses, a length of 0 or above 1 MiB, invalid UTF-8, more than 64 levels, more than 100,000 tokens and a root that is
// no object; the runner refuses above 16 MiB (a body of 8 MiB as base64, and the `load` with all sources).
// Whose runner it is belongs to the descriptor, and the API believes nothing a frame says: an unknown `type`, an `id`
// that is not open or a member of another shape ends the runner. What comes for a cancelled invocation is dropped.
//
// Ids are u32 counters from 1, each chosen by the side that asks: the API counts invocations (`load`, `event`, `route`,
// `cron`) and pings in one, the runner counts calls in another.
//
// A conversation: runner `ready`; API `load`; runner `loading` any number of times and `loaded` once; then invocations, at
// most 32 at a time.
//   event, cron   →  result
//   route         →  response (end: true), or response, chunk…, end; or result (failed, http_error) at any point
//   call          →  result (of the API), also after the invocation it belongs to has ended
// The runner ends when descriptor 3 ends.

import type { Bytes, CallTable, Fields, Headers, HookAuth, Json } from './calls.ts';
import type { ChannelLimits } from './channel-limits.ts';
import type { EventNameOf, EventPayloads } from './events.ts';
import type { Fault, FileRegistrations } from './registrations.ts';

/** One hook file as its author wrote it. */
export interface SourceFile {
  /** The file's name: no path. */
  readonly file: string;
  readonly source: string;
}

/** The whole code of the app, once, right after the start; answered by `loaded`. Top-level calls have its id as parent. */
export interface LoadFrame {
  readonly type: 'load';
  readonly id: number;
  readonly workspace: string;
  readonly app: string;
  readonly generation: number;
  /** In order of file name by code point; handlers run in this order, then in that of their registration. */
  readonly files: readonly SourceFile[];
  /** `$app.env`. */
  readonly env: { readonly [name: string]: string };
  readonly limits: ChannelLimits;
}

/** One event, with the payload of its subject. All its handlers run, in order; of a record event those for the collection. */
export type EventInvocation = {
  [Subject in keyof EventPayloads]: EventPayloads[Subject] & {
    readonly type: 'event';
    readonly id: number;
    readonly event: EventNameOf<Subject>;
    readonly auth: HookAuth | null;
    readonly request_id: string;
  };
}[keyof EventPayloads];

/** One request for a custom route. `method` and `path` are those of a `RouteRegistration` of this runner. */
export interface RouteInvocation {
  readonly type: 'route';
  readonly id: number;
  readonly method: string;
  readonly path: string;
  /** Values of the path's parameters, percent-decoded; the trailing `*` is named `*`. */
  readonly params: { readonly [name: string]: string };
  /** What the request says: the target of its first line (`host` makes a path absolute), the method (HEAD for a GET), headers. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Headers;
    readonly body: Bytes | null;
  };
  readonly auth: HookAuth | null;
  readonly request_id: string;
}

/** One run of a job. `name` is that of a `JobRegistration` of this runner. */
export interface CronInvocation {
  readonly type: 'cron';
  readonly id: number;
  readonly name: string;
  /** When it was due: RFC 3339. */
  readonly scheduled_at: string;
  readonly request_id: string;
}

/** The API no longer waits for an invocation: its signal is aborted, its calls are refused, its result dropped. */
export interface CancelFrame {
  readonly type: 'cancel';
  readonly id: number;
}

/** Answered by `pong` as soon as the runner's event loop turns. */
export interface PingFrame {
  readonly type: 'ping';
  readonly id: number;
}

/** So many more bytes of a response's body (before any base64) may be sent. */
export interface CreditFrame {
  readonly type: 'credit';
  readonly id: number;
  readonly bytes: number;
}

/** The answer to a `call`: its value as `CallTable` says, or the error that the author's code is to see. */
export type CallResult =
  | { readonly type: 'result'; readonly id: number; readonly ok: true; readonly value: Json }
  | {
    readonly type: 'result';
    readonly id: number;
    readonly ok: false;
    /** `code` and `status` as of an answer of the API. */
    readonly error: { readonly code: string; readonly status: number; readonly message: string };
  };

/** API to runner. */
export type ToRunner =
  | LoadFrame
  | EventInvocation
  | RouteInvocation
  | CronInvocation
  | CancelFrame
  | PingFrame
  | CreditFrame
  | CallResult;

/** First frame of all: the runner is up. `protocol` is 1. */
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

/** The files that are live now, and why the others are not. */
export interface LoadedFrame {
  readonly type: 'loaded';
  readonly id: number;
  readonly files: readonly FileRegistrations[];
  readonly errors: readonly Fault[];
}

/** How an invocation ended. */
export type InvocationResult =
  /** `changes`: fields of a record before its create or update that handlers changed; null clears one. Else `{}`. */
  | { readonly type: 'result'; readonly id: number; readonly outcome: 'done'; readonly changes: Fields }
  /** A before-hook refused. `message` is for the client; `fault` (what was thrown; null for `false`) for the log. */
  | {
    readonly type: 'result';
    readonly id: number;
    readonly outcome: 'veto';
    readonly message: string;
    readonly fault: Fault | null;
  }
  /** Handlers threw, or gave what cannot be sent. Of an after-hook the others ran all the same. */
  | {
    readonly type: 'result';
    readonly id: number;
    readonly outcome: 'failed';
    readonly faults: readonly Fault[];
  }
  /** A route threw an `HttpError`: status 400 to 599. */
  | {
    readonly type: 'result';
    readonly id: number;
    readonly outcome: 'http_error';
    readonly status: number;
    readonly code: string;
    readonly message: string;
  };

/** The answer to a route. With `end` it is whole: no `chunk` and no `end` follow. */
export interface ResponseFrame {
  readonly type: 'response';
  readonly id: number;
  /** 200 to 599. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: Bytes | null;
  readonly end: boolean;
}

/** A further piece of a response's body: at most 64 KiB of it, and no more than was credited. */
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

/** Hook code asks for something. `parent` is the invocation it belongs to: one that was not ended or cancelled yet. */
export type CallFrame = {
  [Method in keyof CallTable]: {
    readonly type: 'call';
    readonly id: number;
    readonly parent: number;
    readonly method: Method;
    readonly args: CallTable[Method]['args'];
  };
}[keyof CallTable];

/** How grave a line of the log is. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A line for the app's log, of `console.*`, `$app.log` or an error nobody caught. */
export interface LogFrame {
  readonly type: 'log';
  /** The invocation that wrote it, which may have ended; 0 outside of any. */
  readonly parent: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly file: string | null;
  readonly fields: { readonly [name: string]: Json } | null;
}

/** The answer to a `ping`. */
export interface PongFrame {
  readonly type: 'pong';
  readonly id: number;
}

/** Runner to API. */
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
