// The response of one custom route on its way from the runner to the client.
import type { ResponseFrame, RouteInvocation } from '../../../hook-runner/protocol.ts';
import type { RouteRegistration } from '../../../hook-runner/registrations.ts';
import { ApiError, fail } from '../../errors.ts';
import type { Header, HeaderList } from '../../http/header-list.ts';
import { isActive } from '../../http/protection/active-types.ts';
import { jsonContent, writeHead } from '../../http/response-headers.ts';
import type { AppHooks } from '../app-hooks.ts';
import { addServerHeaders, fromHookHeaders } from './headers.ts';
import { type ResponseSink, type RouteFailure, RouteRun } from './run.ts';
import type { CallContext, Generation } from '../pool/generation.ts';
import { toContent } from '../rpc/inbound-values.ts';
import type { CustomRequest } from '../ports.ts';

/** How long a body may pause. */
const maxPauseMs = 30_000;
const maxBodyBytes = 67_108_864;
const nonAscii = /[\u0080-\u00ff]/;
const codePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Where pages of a route are shown: here, or only at another address, or nowhere. */
export type PagesPlace = 'here' | { address: string | undefined };

/** True for a response that a browser would run. */
function isPage(headers: HeaderList): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && isActive(value));
}

/** One request and its response; has taken a turn, and gives it back once. */
export class RouteExchange implements ResponseSink {
  readonly #hooks: AppHooks;
  readonly #request: CustomRequest;
  readonly #cookiePrefix: string;
  readonly #pages: PagesPlace;
  readonly #route: RouteRegistration;
  readonly #begun = Promise.withResolvers<void>();
  #generation: Generation | undefined;
  #run: RouteRun | undefined;
  #context: CallContext | undefined;
  #id = 0;
  #bytes = 0;
  /** The bytes that are sent at the end. */
  #lastContent: string | Buffer | null = null;
  #isStreaming = false;
  #isClosed = false;

  constructor(
    hooks: AppHooks,
    request: CustomRequest,
    { route, cookiePrefix, pages }: { route: RouteRegistration; cookiePrefix: string; pages: PagesPlace },
  ) {
    this.#hooks = hooks;
    this.#request = request;
    this.#route = route;
    this.#cookiePrefix = cookiePrefix;
    this.#pages = pages;
  }

  /** Runs the route; resolves when its response has begun. Throws `ApiError` when it has none. */
  async begin(message: (id: number) => RouteInvocation): Promise<void> {
    const { requestId, response } = this.#request;
    const ready = this.#hooks.ready();
    const { generation, timeoutMs } = ready instanceof Promise ? await ready : ready;
    const run = { requestId, depth: 0, deadline: performance.now() + timeoutMs };
    const context = generation.makeContext(run);
    this.#generation = generation;
    this.#context = context;
    this.#run = new RouteRun(run.deadline, (call) => generation.handleCall(call, context), this);
    this.#hooks.countRun();
    // A client that has left while it waited for its turn is told of by no event any more.
    if (response.destroyed) return this.close();
    response.once('close', () => this.close());
    this.#id = generation.begin(this.#run, run, message);
    await this.#begun.promise;
  }

  head({ status, headers, body, end }: ResponseFrame): void {
    const { response, headers: own, appHost } = this.#request;
    const isOwnOrigin = appHost !== undefined;
    try {
      if (this.#pages !== 'here' && isPage(headers)) return this.#sendElsewhere(this.#pages.address);
      if (!end) this.#beginStream();
      const sent = fromHookHeaders(headers, this.#cookiePrefix, {
        app: this.#hooks.app,
        isOwnOrigin,
      });
      sent.push(...addServerHeaders(sent, own));
      const isBodiless = status === 204 || status === 304 || response.req.method === 'HEAD';
      const content = isBodiless || body === null ? null : toContent(body);
      if (end) {
        if (!isBodiless) sent.push(['Content-Length', String(Buffer.byteLength(content ?? ''))]);
        // A text leaves with the head, as one piece, and takes the head's letters for UTF-8 then.
        const isPlain = !headers.some(([, value]) => nonAscii.test(value));
        this.#lastContent = isPlain || content === null ? content : Buffer.from(content);
      }
      writeHead(response, status, sent);
      if (!end) {
        this.#extendDeadline();
        if (content !== null) this.chunk(Buffer.from(content));
        response.flushHeaders();
      }
      this.#begun.resolve();
    } catch (error) {
      this.#begun.reject(error);
      this.close();
    }
  }

  chunk(bytes: Buffer): void {
    const { response } = this.#request;
    this.#bytes += bytes.length;
    if (this.#isClosed || response.destroyed) return;
    if (this.#bytes > maxBodyBytes) {
      this.#log(`the body of a response has more than ${maxBodyBytes} bytes`);
      response.destroy();
      return;
    }
    this.#extendDeadline();
    response.write(bytes, (error) => {
      if (error === null || error === undefined) this.#addCredit(bytes.length);
    });
  }

  end(): void {
    // Without a head that can be sent, all that is left is the error.
    if (this.#isClosed) return;
    this.#request.response.end(this.#lastContent);
    // Else the runner would be told of every response that it is not waited for any more.
    this.#generation?.channel.settle(this.#id);
    this.close();
  }

  fail(why: ApiError | RouteFailure): void {
    const { response } = this.#request;
    this.#logFailure(why);
    // The client learns from the broken connection that this is not all.
    if (response.headersSent) response.destroy();
    else if (why instanceof ApiError) this.#begun.reject(why);
    else if (why.outcome === 'failed') {
      this.#begun.reject(new ApiError('hook_error', 'the hook failed; its log says why'));
    } else this.#sendError(why);
    this.close();
  }

  /** Nothing more is wanted of the runner. To be called once at least. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#generation?.channel.cancel(this.#id);
    this.#generation?.noteEnd(this.#id);
    if (this.#isStreaming) this.#hooks.slots.endStream();
    else this.#hooks.slots.release();
    // A client that left before the response began gets none.
    this.#begun.resolve();
  }

  /** Counts a failure and logs it. An error that the handler responds with is no failure, nor is a veto. */
  #logFailure(why: ApiError | RouteFailure): void {
    if (why instanceof ApiError) this.#log(why.message);
    else if (why.outcome === 'failed') this.#hooks.log.addFaults(why.faults, this.#request.requestId);
    else if (!this.#request.response.headersSent) return;
    else this.#log(`the response had begun when it came to ${why.status} ${why.code}: ${why.message}`);
    this.#hooks.counters.errors++;
  }

  /** Tells the log what went wrong with the route, where its code did not. */
  #log(reason: string): void {
    const { method, path } = this.#route;
    const file =
      this.#generation?.registrations.findFile(({ routes }) =>
        routes.some((route) => route.method === method && route.path === path)
      ) ?? null;
    const message = `${method} ${path}: ${reason}`;
    this.#hooks.log.add({ level: 'error', message, file, request_id: this.#request.requestId });
  }

  /** Sends a browser to the address where it may see the page. Throws `403 forbidden` where that is not possible. */
  #sendElsewhere(address: string | undefined): void {
    const { response, headers } = this.#request;
    const { method = '' } = response.req;
    if (address === undefined) {
      fail(
        'forbidden',
        'pages are not shown here (http.app_domain), and the ids of this app make no name of its own',
      );
    }
    if (method !== 'GET' && method !== 'HEAD') {
      fail('forbidden', `pages are not shown here (http.app_domain): send this to ${address}`);
    }
    const length: Header = ['Content-Length', '0'];
    writeHead(response, 308, [['Location', address], length, ...addServerHeaders([], headers)]).end();
    this.#begun.resolve();
    this.close();
  }

  /** A handler's own error, in the form of all errors. */
  #sendError({ status, code, message }: Extract<RouteFailure, { outcome: 'http_error' }>): void {
    const { response, headers } = this.#request;
    const shown = codePattern.test(code) ? code : 'hook_error';
    const body = JSON.stringify({ code: shown, message });
    const length: Header = ['Content-Length', String(Buffer.byteLength(body))];
    writeHead(response, status, [jsonContent, length, ...addServerHeaders([], headers)]).end(body);
    this.#begun.resolve();
  }

  #beginStream(): void {
    this.#hooks.slots.beginStream();
    this.#generation?.beginStream(this.#id);
    this.#isStreaming = true;
  }

  #addCredit(bytes: number): void {
    if (this.#isClosed) return;
    this.#run?.addCredit(bytes);
    this.#generation?.channel.send({ type: 'credit', id: this.#id, bytes });
  }

  #extendDeadline(): void {
    const deadline = performance.now() + maxPauseMs;
    this.#generation?.channel.extend(this.#id, deadline);
    if (this.#context !== undefined) this.#context.deadline = deadline;
  }
}
