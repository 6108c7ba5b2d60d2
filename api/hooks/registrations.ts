// The registrations of an app's loaded files, arranged so that a request finds at once those that concern it.
import { type EventNameOf, hookEvents } from '../../hook-runner/events.ts';
import type {
  FileRegistrations,
  JobRegistration,
  RouteRegistration,
} from '../../hook-runner/registrations.ts';
import { type CustomRouteMatch, RouteTable } from './routes/match.ts';
import type { FileFault, WriteAction } from './ports.ts';

/** The events that have handlers before and after one kind of write. */
export interface WriteEvents {
  readonly before?: EventNameOf<'record'>;
  readonly after?: EventNameOf<'record'>;
  /** True when a hook before it is of a broken file: nobody knows then what that would veto. */
  readonly isRefused?: boolean;
}

/** The hooks of an event of users. */
export interface UserEvent {
  /** True when one of them is of a broken file: nobody knows then what that would veto. */
  readonly isRefused: boolean;
}

/** What policy has to say of the jobs. */
export interface JobPolicy {
  /** The least time between two runs, in seconds. */
  minSec: number;
  /** One for each file with jobs that would run more often, and are left out. */
  faults: readonly FileFault[];
}

/** The registrations of one generation. */
export class Registrations {
  readonly files: readonly FileRegistrations[];
  /** Files that have loaded once, and of which no version loads now: what they would run is refused. */
  readonly broken: readonly FileRegistrations[];
  /** The custom routes in the order of their registration. */
  readonly routes: readonly RouteRegistration[];
  /** The same, and those of broken files. */
  readonly everyRoute: readonly RouteRegistration[];
  /** The scheduled jobs. */
  readonly jobs: readonly JobRegistration[];
  /** Undefined where the files register no job. */
  readonly jobPolicy: JobPolicy | undefined;
  readonly #routeTable: RouteTable;
  readonly #userEvents = new Map<EventNameOf<'user'>, UserEvent>();
  readonly #writeEvents = new Map<string, Partial<Record<WriteAction, WriteEvents>>>();

  constructor(
    files: readonly FileRegistrations[],
    jobPolicy?: JobPolicy,
    broken: readonly FileRegistrations[] = [],
  ) {
    this.files = files;
    this.jobPolicy = jobPolicy;
    this.broken = broken;
    this.routes = files.flatMap(({ routes }) => routes);
    this.everyRoute = [...this.routes, ...broken.flatMap(({ routes }) => routes)];
    this.#routeTable = new RouteTable(this.everyRoute);
    this.jobs = files.flatMap(({ jobs }) => jobs);
    for (const { event, collection } of files.flatMap(({ hooks }) => hooks)) {
      if (collection === null) this.#userEvents.set(event, { isRefused: false });
      else this.#noteEvent(collection, event, { [hookEvents[event].when]: event });
    }
    for (const { event, collection } of broken.flatMap(({ hooks }) => hooks)) {
      if (hookEvents[event].when !== 'before') continue;
      if (collection === null) this.#userEvents.set(event, { isRefused: true });
      else this.#noteEvent(collection, event, { isRefused: true });
    }
  }

  #noteEvent(collection: string, event: EventNameOf<'record'>, events: WriteEvents): void {
    const { action } = hookEvents[event];
    const known = this.#writeEvents.get(collection) ?? {};
    this.#writeEvents.set(collection, { ...known, [action]: { ...known[action], ...events } });
  }

  /** The hooks of an event of users; undefined when there are none. */
  findUserEvent(event: EventNameOf<'user'>): UserEvent | undefined {
    return this.#userEvents.get(event);
  }

  /** The hooks around a write; undefined when there are none. */
  findWriteEvents(collection: string, action: WriteAction): WriteEvents | undefined {
    return this.#writeEvents.get(collection)?.[action];
  }

  /** The files that registered what is sought. */
  findFiles(isIt: (one: FileRegistrations) => boolean): string[] {
    return this.files.filter(isIt).map(({ file }) => file);
  }

  /** The file that registered what is sought; null where none did. */
  findFile(isIt: (one: FileRegistrations) => boolean): string | null {
    return this.files.find(isIt)?.file ?? null;
  }

  /** See `RouteTable`. */
  matchRoute(method: string, path: string): CustomRouteMatch | undefined {
    return this.#routeTable.match(method, path);
  }
}
