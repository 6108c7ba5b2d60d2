// The registry of an app's handlers: record hooks, routes and jobs.
import { checkCronExpression } from './cron-expression.ts';
import type { EventNameOf, HookEventName } from './events.ts';
import { describeThrown, findPosition, type SourcePosition } from './faults.ts';
import type { LoadedFile } from './loader.ts';
import type {
  Fault,
  FileRegistrations,
  HookRegistration,
  JobRegistration,
  RouteRegistration,
} from './registrations.ts';
import { parseRoutePath } from './route-path.ts';
import { safeMap, withoutPrototype } from './untampered.ts';

/** An author's function, with the position of its registration. */
export interface Handler extends SourcePosition {
  readonly run: (event: unknown) => unknown;
}

/** One registration of any kind. */
type Entry =
  | { readonly kind: 'hook'; readonly handler: Handler; readonly hook: HookRegistration }
  | { readonly kind: 'route'; readonly handler: Handler; readonly route: RouteRegistration }
  | { readonly kind: 'job'; readonly handler: Handler; readonly job: JobRegistration };

/** A registration with what may speak against it. */
interface Registered {
  readonly entry: Entry;
  /** The name that the app may register once; null for a record hook. */
  readonly name: string | null;
  /** The conflict with earlier registrations. It does not count if their files fail to load. */
  readonly objection: Error | null;
}

/** The methods of routes. `ANY` stands for all of them. */
const methods = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY)$/;
/** Limits of the registered texts, so that the report of all registrations fits into a frame. */
const maxTextLength = 512;
const maxNameLength = 128;
const maxExpressionLength = 256;

/** Collects registrations while the files load, then finds the handlers of invocations. */
export class Registry {
  #loading = true;
  readonly #limit: number;
  readonly #files: ReadonlySet<string>;
  readonly #registered: Registered[] = [];
  /** The file that registered each name first. */
  readonly #owners = safeMap<string, string>();
  /** The number of registrations of each file. */
  readonly #counts = safeMap<string, number>();
  readonly #hooks = safeMap<string, Handler[]>();
  readonly #routesAndJobs = safeMap<string, Handler>();

  /** `limit` is the maximum number of registrations of one app. */
  constructor(files: readonly string[], limit: number) {
    this.#files = new Set(files);
    this.#limit = limit;
  }

  /** `onRecord…(collection, fn)`. */
  addHook(event: EventNameOf<'record'>, collection: unknown, run: unknown): void {
    const name = checkText(collection, 'the collection');
    this.#add({
      kind: 'hook',
      handler: this.#handler(run),
      hook: withoutPrototype({ event, collection: name }),
    });
  }

  /** `onUser…(fn)`. */
  addUserHook(event: EventNameOf<'user'>, run: unknown): void {
    this.#add({
      kind: 'hook',
      handler: this.#handler(run),
      hook: withoutPrototype({ event, collection: null }),
    });
  }

  /** `routerAdd(method, path, fn)`. */
  addRoute(method: unknown, path: unknown, run: unknown): void {
    const verb = checkText(method, 'the method').toUpperCase();
    if (!methods.test(verb)) {
      throw new TypeError(
        `${
          JSON.stringify(method)
        } is no method that a route can have: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS or ANY`,
      );
    }
    const text = checkText(path, 'the path');
    const segments = parseRoutePath(text);
    const route = withoutPrototype({ method: verb, path: text, segments });
    this.#add({ kind: 'route', handler: this.#handler(run), route }, `route ${verb} ${text}`);
  }

  /** `cronAdd(name, expression, fn)`. */
  addJob(name: unknown, expression: unknown, run: unknown): void {
    const job = withoutPrototype({
      name: checkText(name, 'the name'),
      expression: checkText(expression, 'the expression'),
    });
    if (job.name.length > maxNameLength || job.expression.length > maxExpressionLength) {
      throw new RangeError(
        `a job's name has at most ${maxNameLength} characters, its expression ${maxExpressionLength}`,
      );
    }
    checkCronExpression(job.expression);
    this.#add({ kind: 'job', handler: this.#handler(run), job }, `job ${job.name}`);
  }

  /** Ends the loading. The registrations of files without a fault become live, in the order of `files`. */
  finish(files: readonly LoadedFile[]): { files: FileRegistrations[]; errors: Fault[] } {
    this.#loading = false;
    const faults = safeMap<string, Fault>();
    for (const { file, fault } of files) if (fault !== null) faults.set(file, fault);
    for (let one = this.#findRefused(faults); one !== undefined; one = this.#findRefused(faults)) {
      faults.set(one.file, describeThrown(one.objection, one.file));
    }
    const live: FileRegistrations[] = withoutPrototype([]);
    const errors: Fault[] = withoutPrototype([]);
    let liveCount = 0;
    let errorCount = 0;
    for (const { file } of files) {
      const found = faults.get(file);
      if (found !== undefined) errors[errorCount++] = found;
      else live[liveCount++] = this.#goLive(file);
    }
    return { files: live, errors };
  }

  /** The handlers of an event, in order; `collection` is null for an event of users. */
  hooks(event: HookEventName, collection: string | null): readonly Handler[] {
    return this.#hooks.get(`${event} ${collection ?? ''}`) ?? [];
  }

  /** The handler of a route as it was registered. */
  route(method: string, path: string): Handler | undefined {
    return this.#routesAndJobs.get(`route ${method} ${path}`);
  }

  /** The handler of a job. */
  job(name: string): Handler | undefined {
    return this.#routesAndJobs.get(`job ${name}`);
  }

  #goLive(file: string): FileRegistrations {
    const hooks: HookRegistration[] = [];
    const routes: RouteRegistration[] = [];
    const jobs: JobRegistration[] = [];
    for (const { entry } of this.#registered) {
      if (entry.handler.file !== file) continue;
      if (entry.kind === 'hook') {
        hooks[hooks.length] = entry.hook;
        this.#addLiveHook(`${entry.hook.event} ${entry.hook.collection ?? ''}`, entry.handler);
      } else if (entry.kind === 'route') {
        routes[routes.length] = entry.route;
        this.#routesAndJobs.set(`route ${entry.route.method} ${entry.route.path}`, entry.handler);
      } else {
        jobs[jobs.length] = entry.job;
        this.#routesAndJobs.set(`job ${entry.job.name}`, entry.handler);
      }
    }
    return withoutPrototype({
      file,
      hooks: withoutPrototype(hooks),
      routes: withoutPrototype(routes),
      jobs: withoutPrototype(jobs),
    });
  }

  #addLiveHook(key: string, handler: Handler): void {
    const handlers: Handler[] = this.#hooks.get(key) ?? withoutPrototype<Handler[]>([]);
    handlers[handlers.length] = handler;
    this.#hooks.set(key, handlers);
  }

  /** Finds the first file that conflicts with earlier registrations, not counting files with faults. */
  #findRefused(faults: ReadonlyMap<string, Fault>): { file: string; objection: Error } | undefined {
    const taken = safeMap<string, true>();
    let count = 0;
    for (const { entry: { handler: { file } }, name, objection } of this.#registered) {
      if (faults.has(file)) continue;
      count++;
      const conflicts = count > this.#limit || name !== null && taken.has(name);
      if (conflicts && objection !== null) return { file, objection };
      if (name !== null) taken.set(name, true);
    }
    return undefined;
  }

  #add(entry: Entry, name: string | null = null): void {
    const { file } = entry.handler;
    const owner = name === null ? undefined : this.#owners.get(name);
    const count = (this.#counts.get(file) ?? 0) + 1;
    if (owner === file) throw new Error(`the ${name} is registered already`);
    if (count > this.#limit) throw new RangeError(`an app has at most ${this.#limit} hooks, routes and jobs`);
    this.#counts.set(file, count);
    if (name !== null && owner === undefined) this.#owners.set(name, file);
    this.#registered[this.#registered.length] = { entry, name, objection: this.#objectionTo(name, owner) };
  }

  /** The conflict with earlier registrations. The error is created here so that its stack names the registration. */
  #objectionTo(name: string | null, owner: string | undefined): Error | null {
    if (owner !== undefined) return new Error(`the ${name} is registered already, by ${owner}`);
    if (this.#registered.length < this.#limit) return null;
    return new RangeError(`an app has at most ${this.#limit} hooks, routes and jobs`);
  }

  #handler(run: unknown): Handler {
    if (!this.#loading) {
      throw new Error('hooks, routes and jobs can be registered only while their file loads');
    }
    if (typeof run !== 'function') throw new TypeError('the handler must be a function');
    return { ...this.#findRegistrationPosition(), run: (event) => run.call(undefined, event) };
  }

  /** The position of the running top-level code: the outermost frame on the stack that is in an app's file. */
  #findRegistrationPosition(): SourcePosition {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 200;
    const lines = (new Error().stack ?? '').split('\n').reverse();
    Error.stackTraceLimit = limit;
    for (const line of lines) {
      const place = findPosition(line);
      if (place !== null && this.#files.has(place.file)) return place;
    }
    throw new Error('hooks, routes and jobs can be registered only by code of a hook file');
  }
}

function checkText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '' || value.length > maxTextLength) {
    throw new TypeError(`${what} must be a text of 1 to ${maxTextLength} characters`);
  }
  return value;
}
