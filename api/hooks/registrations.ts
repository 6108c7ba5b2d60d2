// What an app's loaded files ask to be called for, arranged so that a request learns at once whether it concerns them.
import { type EventNameOf, hookEvents } from '../../hook-runner/events.ts';
import type {
  FileRegistrations,
  JobRegistration,
  RouteRegistration,
} from '../../hook-runner/registrations.ts';
import { type CustomRouteMatch, RouteTable } from './routes/match.ts';
import type { WriteAction } from './ports.ts';

/** The events that have handlers before and after one kind of write. */
export interface Concern {
  readonly before?: EventNameOf<'record'>;
  readonly after?: EventNameOf<'record'>;
}

/** The registrations of one generation. */
export class Registrations {
  readonly files: readonly FileRegistrations[];
  /** The custom routes in the order of their registration. */
  readonly routes: readonly RouteRegistration[];
  /** The scheduled jobs. */
  readonly jobs: readonly JobRegistration[];
  readonly #table: RouteTable;
  readonly #concerns = new Map<string, Partial<Record<WriteAction, Concern>>>();

  constructor(files: readonly FileRegistrations[]) {
    this.files = files;
    this.routes = files.flatMap(({ routes }) => routes);
    this.#table = new RouteTable(this.routes);
    this.jobs = files.flatMap(({ jobs }) => jobs);
    for (const { event, collection } of files.flatMap(({ hooks }) => hooks)) {
      const { when, action } = hookEvents[event];
      const concerns = this.#concerns.get(collection) ?? {};
      this.#concerns.set(collection, concerns);
      concerns[action] = { ...concerns[action], [when]: event };
    }
  }

  /** What runs around a write; undefined when nothing does. */
  of(collection: string, action: WriteAction): Concern | undefined {
    return this.#concerns.get(collection)?.[action];
  }

  /** The file that registered what is sought; null where none did. */
  fileWith(isIt: (one: FileRegistrations) => boolean): string | null {
    return this.files.find(isIt)?.file ?? null;
  }

  /** See `RouteTable`. */
  route(method: string, path: string): CustomRouteMatch | undefined {
    return this.#table.match(method, path);
  }
}
