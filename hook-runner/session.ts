// The session of one app's code: loads its files, then runs their handlers for the API.
import { createAppObject } from './app-object.ts';
import { ApiClient, AppError } from './asking.ts';
import type { ApiChannel } from './channel.ts';
import { IdleCollector } from './collect-at-rest.ts';
import { createConsole, type Format } from './console.ts';
import { errorResult, HttpError, RouteEvent, toResponse } from './custom-routes.ts';
import { hookEventNames, hookEvents, isRecordEvent } from './events.ts';
import { describeThrown, makeFault } from './faults.ts';
import { FieldError } from './field-error.ts';
import { replaceGlobals } from './globals.ts';
import { createFetch } from './guarded-fetch.ts';
import type { InvocationContext, Invocations } from './invocations.ts';
import { loadFiles } from './loader.ts';
import { LogWriter } from './log-lines.ts';
import type { CronInvocation, EventInvocation, LoadFrame, RouteInvocation, ToRunner } from './protocol.ts';
import { doneResult, failedResult, type InvocationOutcome, runEvent } from './run-event.ts';
import { Registry } from './registry.ts';
import { ResponseSender } from './responses.ts';
import type { ModuleApi } from './type-stripping.ts';
import {
  collectGarbage,
  encodeUtf8,
  originalResponse,
  startTimer,
  stringifyJson,
  withoutPrototype,
} from './untampered.ts';

/** The dependencies of a session. */
export interface RunnerSessionOptions {
  readonly channel: ApiChannel;
  readonly invocations: Invocations;
}

/** One app's code in this process. */
export class Session {
  readonly #load: LoadFrame;
  readonly #channel: ApiChannel;
  readonly #invocations: Invocations;
  readonly #registry: Registry;
  readonly #api: ApiClient;
  readonly #responses: ResponseSender;
  readonly #collector: IdleCollector;
  readonly #fail = (invocation: InvocationContext, thrown: unknown) =>
    this.#finish(invocation, failedResult(invocation.id, [describeThrown(thrown, invocation.file)]));

  constructor(load: LoadFrame, { channel, invocations }: RunnerSessionOptions) {
    const { limits } = load;
    this.#load = load;
    this.#channel = channel;
    this.#invocations = invocations;
    this.#registry = new Registry(load.files.map(({ file }) => file), limits.registrations);
    this.#api = new ApiClient(channel, invocations, limits.call_bytes);
    this.#responses = new ResponseSender(channel, limits.window_bytes);
    this.#collector = new IdleCollector({
      isIdle: () => invocations.isIdle,
      collect: collectGarbage,
      later: startTimer,
    });
  }

  /** Prepares the globals of hook files, loads the files and reports their registrations. */
  begin(): void {
    const { id, limits } = this.#load;
    const api: ModuleApi = process.getBuiltinModule('node:module');
    const { format }: { format: Format } = process.getBuiltinModule('node:util');
    const lines = new LogWriter(this.#channel, this.#invocations, limits.log_bytes);
    replaceGlobals(this.#createGlobals(lines, format));
    this.#start(id, async () => {
      const files = await loadFiles(this.#load.files, {
        timeoutMs: limits.load_ms,
        api,
        onProgress: (underWay) => this.#channel.send({ type: 'loading', id, files: underWay }),
      });
      this.#channel.send({ type: 'loaded', id, ...this.#registry.finish(files) });
    });
  }

  /** Handles one frame of the API. */
  receive(frame: ToRunner): void {
    switch (frame.type) {
      case 'event':
        return this.#start(frame.id, (invocation) => this.#runEvent(frame, invocation));
      case 'route':
        return this.#start(frame.id, (invocation) => this.#runRoute(frame, invocation));
      case 'cron':
        return this.#start(frame.id, (invocation) => this.#runJob(frame, invocation));
      case 'result':
        return this.#api.settle(frame);
      case 'credit':
        return this.#responses.credit(frame.id, frame.bytes);
      case 'cancel':
        return this.#invocations.cancel(frame.id);
      case 'ping':
        return this.#channel.send({ type: 'pong', id: frame.id });
      case 'load':
        throw new Error('a runner loads once');
    }
  }

  #start(id: number, work: (invocation: InvocationContext) => Promise<void>): void {
    this.#collector.noteInvocation();
    this.#invocations.run(id, work, this.#fail);
  }

  async #runEvent(frame: EventInvocation, invocation: InvocationContext): Promise<void> {
    const handlers = this.#registry.hooks(frame.event, 'collection' in frame ? frame.collection : null);
    this.#finish(invocation, await runEvent(frame, handlers, invocation));
  }

  async #runJob(frame: CronInvocation, invocation: InvocationContext): Promise<void> {
    const handler = this.#registry.job(frame.name);
    if (handler === undefined) throw new Error(`there is no job ${frame.name}`);
    invocation.file = handler.file;
    try {
      await handler.run(
        withoutPrototype({ name: frame.name, scheduledAt: frame.scheduled_at, requestId: frame.request_id }),
      );
      this.#finish(invocation, doneResult(frame.id));
    } catch (thrown) {
      this.#finish(invocation, failedResult(frame.id, [describeThrown(thrown, handler)]));
    }
  }

  async #runRoute(frame: RouteInvocation, invocation: InvocationContext): Promise<void> {
    const handler = this.#registry.route(frame.method, frame.path);
    if (handler === undefined) throw new Error(`there is no route ${frame.method} ${frame.path}`);
    invocation.file = handler.file;
    try {
      const response = toResponse(await handler.run(new RouteEvent(frame, invocation)));
      if (response instanceof originalResponse()) {
        await this.#responses.send(invocation, response, frame.request.method === 'HEAD');
      } else if (invocation.ended) return;
      else if (response.text === null || response.text.length * 4 < this.#load.limits.result_bytes) {
        this.#responses.sendText(invocation, response.status, response.text);
      } else {
        await this.#responses.send(invocation, jsonResponse(response.status, response.text), false);
      }
    } catch (thrown) {
      this.#finish(invocation, errorResult(frame, thrown, handler));
    }
  }

  /** Sends the result of an invocation, unless the API no longer waits for it. */
  #finish(invocation: InvocationContext, result: InvocationOutcome): void {
    if (invocation.ended) return;
    const text = typeof result === 'string' ? result : stringifyJson(withoutPrototype(result)) ?? '';
    const maxBytes = this.#load.limits.result_bytes;
    if (text.length * 3 <= maxBytes || encodeUtf8(text).length <= maxBytes) {
      return this.#channel.sendText(text);
    }
    const position = { file: invocation.file, line: null, column: null };
    const tooLong = makeFault(`what the handlers gave exceeds ${maxBytes} bytes`, position);
    this.#channel.send({
      type: 'result',
      id: invocation.id,
      outcome: 'failed',
      faults: withoutPrototype([tooLong]),
    });
  }

  #createGlobals(lines: LogWriter, format: Format): Record<string, unknown> {
    const registry = this.#registry;
    const own: Record<string, unknown> = {
      $app: createAppObject(this.#load, this.#api, { lines, format }),
      console: createConsole(lines, format),
      fetch: createFetch(this.#api),
      HttpError,
      FieldError,
      AppError,
      routerAdd: (method: unknown, path: unknown, run: unknown) => registry.addRoute(method, path, run),
      cronAdd: (name: unknown, expression: unknown, run: unknown) => registry.addJob(name, expression, run),
    };
    for (const event of hookEventNames) {
      own[hookEvents[event].register] = isRecordEvent(event)
        ? (collection: unknown, run: unknown) => registry.addHook(event, collection, run)
        : (run: unknown) => registry.addUserHook(event, run);
    }
    return own;
  }
}

function jsonResponse(status: number, text: string): Response {
  return new (originalResponse())(text, { status, headers: { 'content-type': 'application/json' } });
}
