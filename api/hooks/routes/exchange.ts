// The answer of one custom route on its way from the runner to the client.
import type { ResponseFrame, RouteInvocation } from '../../../hook-runner/protocol.ts';
import type { RouteRegistration } from '../../../hook-runner/registrations.ts';
import { ApiError } from '../../errors.ts';
import type { Header } from '../../http/header-list.ts';
import { jsonContent, writeHead } from '../../http/response-headers.ts';
import type { AppHooks } from '../app-hooks.ts';
import { headersBeside, headersFromHook } from './headers.ts';
import { CustomRun, type CustomSink, type Failed } from './run.ts';
import type { CallContext, Generation } from '../pool/generation.ts';
import { contentOf } from '../rpc/inbound-values.ts';
import type { CustomRequest } from '../ports.ts';

/** How long a body may pause. */
const pauseMilliseconds = 30_000;
const mostBodyBytes = 67_108_864;
const latin = /[\u0080-\u00ff]/;
const codePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** One request and its answer; has taken a turn, and gives it back once. */
export class Exchange implements CustomSink {
  readonly #hooks: AppHooks;
  readonly #request: CustomRequest;
  readonly #cookiePrefix: string;
  readonly #route: RouteRegistration;
  readonly #begun = Promise.withResolvers<void>();
  #generation: Generation | undefined;
  #run: CustomRun | undefined;
  #context: CallContext | undefined;
  #id = 0;
  #bytes = 0;
  /** What is sent at the end. */
  #rest: string | Buffer | null = null;
  #isStreaming = false;
  #isOver = false;

  constructor(
    hooks: AppHooks,
    request: CustomRequest,
    { route, cookiePrefix }: { route: RouteRegistration; cookiePrefix: string },
  ) {
    this.#hooks = hooks;
    this.#request = request;
    this.#route = route;
    this.#cookiePrefix = cookiePrefix;
  }

  /** Runs the route; resolves when its answer has begun. Throws `ApiError` when it has none. */
  async begin(message: (id: number) => RouteInvocation): Promise<void> {
    const { requestId, response } = this.#request;
    const ready = this.#hooks.ready();
    const { generation, milliseconds } = ready instanceof Promise ? await ready : ready;
    const run = { requestId, depth: 0, deadline: performance.now() + milliseconds };
    const context = generation.contextOf(run);
    this.#generation = generation;
    this.#context = context;
    this.#run = new CustomRun(run.deadline, (call) => generation.answer(call, context), this);
    this.#hooks.noteRun();
    // A client that has left while it waited for its turn is told of by no event any more.
    if (response.destroyed) return this.over();
    response.once('close', () => this.over());
    this.#id = generation.begin(this.#run, run, message);
    await this.#begun.promise;
  }

  head({ status, headers, body, end }: ResponseFrame): void {
    const { response, headers: own } = this.#request;
    try {
      if (!end) this.#streamOn();
      const sent = headersFromHook(headers, this.#cookiePrefix, this.#hooks.app);
      sent.push(...headersBeside(headers, own));
      const isBodiless = status === 204 || status === 304 || response.req.method === 'HEAD';
      const content = isBodiless || body === null ? null : contentOf(body);
      if (end) {
        if (!isBodiless) sent.push(['Content-Length', String(Buffer.byteLength(content ?? ''))]);
        // A text leaves with the head, as one piece, and takes the head's letters for UTF-8 then.
        const isPlain = !headers.some(([, value]) => latin.test(value));
        this.#rest = isPlain || content === null ? content : Buffer.from(content);
      }
      writeHead(response, status, sent);
      if (!end) {
        this.#putOff();
        if (content !== null) this.chunk(Buffer.from(content));
        response.flushHeaders();
      }
      this.#begun.resolve();
    } catch (error) {
      this.#begun.reject(error);
      this.over();
    }
  }

  chunk(bytes: Buffer): void {
    const { response } = this.#request;
    this.#bytes += bytes.length;
    if (this.#isOver || response.destroyed) return;
    if (this.#bytes > mostBodyBytes) {
      this.#log(`the body of an answer has more than ${mostBodyBytes} bytes`);
      response.destroy();
      return;
    }
    this.#putOff();
    response.write(bytes, (error) => {
      if (error === null || error === undefined) this.#credit(bytes.length);
    });
  }

  end(): void {
    // Without a head that can be sent, all that is left is the error.
    if (this.#isOver) return;
    this.#request.response.end(this.#rest);
    // Else the runner would be told of every answer that it is not waited for any more.
    this.#generation?.channel.settle(this.#id);
    this.over();
  }

  fail(why: ApiError | Failed): void {
    const { response } = this.#request;
    this.#blame(why);
    // The client learns from the broken connection that this is not all.
    if (response.headersSent) response.destroy();
    else if (why instanceof ApiError) this.#begun.reject(why);
    else if (why.outcome === 'failed') {
      this.#begun.reject(new ApiError('hook_error', 'the hook failed; its log says why'));
    } else this.#answer(why);
    this.over();
  }

  /** Nothing more is wanted of the runner. To be called once at least. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#generation?.channel.cancel(this.#id);
    this.#generation?.ended();
    if (this.#isStreaming) this.#hooks.slots.endStream();
    else this.#hooks.slots.release();
    // A client that left before the answer began is answered nothing.
    this.#begun.resolve();
  }

  /** Counts a failure and logs it. An error that the handler answers with is none, just as a veto is none. */
  #blame(why: ApiError | Failed): void {
    if (why instanceof ApiError) this.#log(why.message);
    else if (why.outcome === 'failed') this.#hooks.log.blame(why.faults, this.#request.requestId);
    else if (!this.#request.response.headersSent) return;
    else this.#log(`the answer had begun when it came to ${why.status} ${why.code}: ${why.message}`);
    this.#hooks.counters.errors++;
  }

  /** Tells the log what went wrong with the route, where its code did not. */
  #log(reason: string): void {
    const { method, path } = this.#route;
    const file =
      this.#generation?.registrations.fileWith(({ routes }) =>
        routes.some((route) => route.method === method && route.path === path)
      ) ?? null;
    const message = `${method} ${path}: ${reason}`;
    this.#hooks.log.add({ level: 'error', message, file, request_id: this.#request.requestId });
  }

  /** A handler's own error, in the form of all errors. */
  #answer({ status, code, message }: Extract<Failed, { outcome: 'http_error' }>): void {
    const { response, headers } = this.#request;
    const shown = codePattern.test(code) ? code : 'hook_error';
    const body = JSON.stringify({ code: shown, message });
    const length: Header = ['Content-Length', String(Buffer.byteLength(body))];
    writeHead(response, status, [jsonContent, length, ...headersBeside([], headers)]).end(body);
    this.#begun.resolve();
  }

  #streamOn(): void {
    this.#hooks.slots.beginStream();
    this.#isStreaming = true;
  }

  #credit(bytes: number): void {
    if (this.#isOver) return;
    this.#run?.credit(bytes);
    this.#generation?.channel.send({ type: 'credit', id: this.#id, bytes });
  }

  #putOff(): void {
    const deadline = performance.now() + pauseMilliseconds;
    this.#generation?.channel.extend(this.#id, deadline);
    if (this.#context !== undefined) this.#context.deadline = deadline;
  }
}
