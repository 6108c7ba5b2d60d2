// One app's code in the process: loads it, then runs its handlers as the API asks.
import { createApp } from './app-object.ts';
import { AppError, Asking } from './asking.ts';
import type { Channel } from './channel.ts';
import { Rest } from './collect-at-rest.ts';
import { createConsole, type Format } from './console.ts';
import { answerOf, errorResult, HttpError, RouteEvent } from './custom-routes.ts';
import { hookEventNames, hookEvents } from './events.ts';
import { fault, faultOf } from './faults.ts';
import { replaceGlobals } from './globals.ts';
import { createFetch } from './guarded-fetch.ts';
import type { Invocation, Invocations } from './invocations.ts';
import { loadFiles } from './loader.ts';
import { LogLines } from './log-lines.ts';
import type { CronInvocation, EventInvocation, Load, RouteInvocation, ToRunner } from './protocol.ts';
import { done, failed, type Result, runRecordEvent } from './record-events.ts';
import { Registry } from './registry.ts';
import { Responses } from './responses.ts';
import type { ModuleApi } from './type-stripping.ts';
import { bare, collectGarbage, later, plainResponse, stringifyJson, utf8 } from './untampered.ts';

/** What a session stands on. */
export interface SessionParts {
  readonly channel: Channel;
  readonly invocations: Invocations;
}

/** The life of one app's code in this process. */
export class Session {
  readonly #load: Load;
  readonly #channel: Channel;
  readonly #invocations: Invocations;
  readonly #registry: Registry;
  readonly #asking: Asking;
  readonly #responses: Responses;
  readonly #rest: Rest;
  readonly #fail = (invocation: Invocation, thrown: unknown) =>
    this.#finish(invocation, failed(invocation.id, [faultOf(thrown, invocation.file)]));

  constructor(load: Load, { channel, invocations }: SessionParts) {
    const { limits } = load;
    this.#load = load;
    this.#channel = channel;
    this.#invocations = invocations;
    this.#registry = new Registry(load.files.map(({ file }) => file), limits.registrations);
    this.#asking = new Asking(channel, invocations, limits.call_bytes);
    this.#responses = new Responses(channel, limits.window_bytes);
    this.#rest = new Rest({ isIdle: () => invocations.isIdle, collect: collectGarbage, later });
  }

  /** Makes the world that hook files see, loads them and reports. */
  begin(): void {
    const { id, limits } = this.#load;
    const api: ModuleApi = process.getBuiltinModule('node:module');
    const { format }: { format: Format } = process.getBuiltinModule('node:util');
    const lines = new LogLines(this.#channel, this.#invocations, limits.log_bytes);
    replaceGlobals(this.#globals(lines, format));
    this.#start(id, async () => {
      const files = await loadFiles(this.#load.files, limits.load_ms, api);
      this.#channel.send({ type: 'loaded', id, ...this.#registry.finish(files) });
    });
  }

  /** One frame of the API's. */
  receive(frame: ToRunner): void {
    switch (frame.type) {
      case 'event':
        return this.#start(frame.id, (invocation) => this.#runEvent(frame, invocation));
      case 'route':
        return this.#start(frame.id, (invocation) => this.#runRoute(frame, invocation));
      case 'cron':
        return this.#start(frame.id, (invocation) => this.#runJob(frame, invocation));
      case 'result':
        return this.#asking.answer(frame);
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

  #start(id: number, work: (invocation: Invocation) => Promise<void>): void {
    this.#rest.note();
    this.#invocations.run(id, work, this.#fail);
  }

  async #runEvent(frame: EventInvocation, invocation: Invocation): Promise<void> {
    const handlers = this.#registry.hooks(frame.event, frame.collection);
    this.#finish(invocation, await runRecordEvent(frame, handlers, invocation));
  }

  async #runJob(frame: CronInvocation, invocation: Invocation): Promise<void> {
    const handler = this.#registry.job(frame.name);
    if (handler === undefined) throw new Error(`there is no job ${frame.name}`);
    invocation.file = handler.file;
    try {
      await handler.run(
        bare({ name: frame.name, scheduledAt: frame.scheduled_at, requestId: frame.request_id }),
      );
      this.#finish(invocation, done(frame.id));
    } catch (thrown) {
      this.#finish(invocation, failed(frame.id, [faultOf(thrown, handler)]));
    }
  }

  async #runRoute(frame: RouteInvocation, invocation: Invocation): Promise<void> {
    const handler = this.#registry.route(frame.method, frame.path);
    if (handler === undefined) throw new Error(`there is no route ${frame.method} ${frame.path}`);
    invocation.file = handler.file;
    try {
      const answer = answerOf(await handler.run(new RouteEvent(frame, invocation)));
      if (answer instanceof plainResponse()) {
        await this.#responses.send(invocation, answer, frame.request.method === 'HEAD');
      } else if (invocation.ended) return;
      else if (answer.text === null || answer.text.length * 4 < this.#load.limits.result_bytes) {
        this.#responses.sendText(invocation, answer.status, answer.text);
      } else {
        await this.#responses.send(invocation, jsonResponse(answer.status, answer.text), false);
      }
    } catch (thrown) {
      this.#finish(invocation, errorResult(frame, thrown, handler));
    }
  }

  /** Sends how an invocation ended, unless nobody waits for it. */
  #finish(invocation: Invocation, result: Result): void {
    if (invocation.ended) return;
    const text = typeof result === 'string' ? result : stringifyJson(bare(result)) ?? '';
    const longest = this.#load.limits.result_bytes;
    if (text.length * 3 <= longest || utf8(text).length <= longest) return this.#channel.sendText(text);
    const place = { file: invocation.file, line: null, column: null };
    const tooLong = fault(`what the handlers gave exceeds ${longest} bytes`, place);
    this.#channel.send({ type: 'result', id: invocation.id, outcome: 'failed', faults: bare([tooLong]) });
  }

  #globals(lines: LogLines, format: Format): Record<string, unknown> {
    const registry = this.#registry;
    const own: Record<string, unknown> = {
      $app: createApp(this.#load, this.#asking, { lines, format }),
      console: createConsole(lines, format),
      fetch: createFetch(this.#asking),
      HttpError,
      AppError,
      routerAdd: (method: unknown, path: unknown, run: unknown) => registry.addRoute(method, path, run),
      cronAdd: (name: unknown, expression: unknown, run: unknown) => registry.addJob(name, expression, run),
    };
    for (const event of hookEventNames) {
      own[hookEvents[event].register] = (collection: unknown, run: unknown) =>
        registry.addHook(event, collection, run);
    }
    return own;
  }
}

function jsonResponse(status: number, text: string): Response {
  return new (plainResponse())(text, { status, headers: { 'content-type': 'application/json' } });
}
