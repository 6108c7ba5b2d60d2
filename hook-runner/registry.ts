// What the app's files registered: record hooks, routes and jobs.
import { checkCronExpression } from './cron-expression.ts';
import type { EventNameOf } from './events.ts';
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

/** A function of an author's, and where it was registered. */
export interface Handler extends SourcePosition {
  readonly run: (event: unknown) => unknown;
}

/** One registration, in whichever of the kinds. */
type Entry =
  | { readonly kind: 'hook'; readonly handler: Handler; readonly hook: HookRegistration }
  | { readonly kind: 'route'; readonly handler: Handler; readonly route: RouteRegistration }
  | { readonly kind: 'job'; readonly handler: Handler; readonly job: JobRegistration };

/** A registration as it was made. */
interface Registered {
  readonly entry: Entry;
  /** Of what can be registered once only. */
  readonly name: string | null;
  /** What stood against it by then; moot where the files that were before it do not load. */
  readonly objection: Error | null;
}

/** Of requests that reach routes, and `ANY` for all of them. */
const methods = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY)$/;
/** Of whatever is registered, so that the report of it all fits into a frame. */
const maxTextLength = 512;
const maxNameLength = 128;
const maxExpressionLength = 256;

/** Takes registrations while the files load, then finds handlers. */
export class Registry {
  #loading = true;
  readonly #limit: number;
  readonly #files: ReadonlySet<string>;
  readonly #registered: Registered[] = [];
  /** Who registered a name first. */
  readonly #owners = safeMap<string, string>();
  /** How much each file registered. */
  readonly #counts = safeMap<string, number>();
  readonly #hooks = safeMap<string, Handler[]>();
  readonly #routesAndJobs = safeMap<string, Handler>();

  /** `limit`: how many registrations one app may have. */
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

  /** Ends the loading: what the files without a fault registered is live, in order of `files`. */
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

  /** The handlers of an event, in order. */
  hooks(event: EventNameOf<'record'>, collection: string): readonly Handler[] {
    return this.#hooks.get(`${event} ${collection}`) ?? [];
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
        this.#addLiveHook(`${entry.hook.event} ${entry.hook.collection}`, entry.handler);
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

  /** The first file that cannot stay beside those that registered before it, files with faults left out. */
  #findRefused(faults: ReadonlyMap<string, Fault>): { file: string; objection: Error } | undefined {
    const taken = safeMap<string, true>();
    let count = 0;
    for (const { entry: { handler: { file } }, name, objection } of this.#registered) {
      if (faults.has(file)) continue;
      count++;
      const stands = count > this.#limit || name !== null && taken.has(name);
      if (stands && objection !== null) return { file, objection };
      if (name !== null) taken.set(name, true);
    }
    return undefined;
  }

  #add(entry: Entry, name: string | null = null): void {
    const { file } = entry.handler;
    const holder = name === null ? undefined : this.#owners.get(name);
    const count = (this.#counts.get(file) ?? 0) + 1;
    if (holder === file) throw new Error(`the ${name} is registered already`);
    if (count > this.#limit) throw new RangeError(`an app has at most ${this.#limit} hooks, routes and jobs`);
    this.#counts.set(file, count);
    if (name !== null && holder === undefined) this.#owners.set(name, file);
    this.#registered[this.#registered.length] = { entry, name, objection: this.#objectionTo(name, holder) };
  }

  /** Made where the registration is, so that it knows the place. */
  #objectionTo(name: string | null, holder: string | undefined): Error | null {
    if (holder !== undefined) return new Error(`the ${name} is registered already, by ${holder}`);
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

  /** Where the top-level code is that runs: in the outermost of the app's files on the stack. */
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
