// What an app's loaded files ask to be called for, arranged so that a request learns at once whether it concerns them.
import type {
  FileRegistrations,
  JobRegistration,
  RecordEvent,
  RouteRegistration,
} from '../../hook-runner/registrations.ts';
import { type RouteMatch, RouteTable } from './routes/match.ts';
import type { WriteAction } from './ports.ts';

/** Whether handlers run before and after one kind of write. */
export interface Concern {
  readonly before: boolean;
  readonly after: boolean;
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
      const [when, action] = halves[event];
      const concerns = this.#concerns.get(collection) ?? {};
      this.#concerns.set(collection, concerns);
      concerns[action] = { before: false, after: false, ...concerns[action], [when]: true };
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
  route(method: string, path: string): RouteMatch | undefined {
    return this.#table.match(method, path);
  }
}

const halves: Record<RecordEvent, readonly ['before' | 'after', WriteAction]> = {
  before_create: ['before', 'create'],
  after_create: ['after', 'create'],
  before_update: ['before', 'update'],
  after_update: ['after', 'update'],
  before_delete: ['before', 'delete'],
  after_delete: ['after', 'delete'],
};

/** All events of records. */
export const recordEvents = Object.keys(halves) as RecordEvent[];

/** Looked up: a text that was put together is slow to become JSON. */
const events = {
  before: { create: 'before_create', update: 'before_update', delete: 'before_delete' },
  after: { create: 'after_create', update: 'after_update', delete: 'after_delete' },
} as const;

/** The event of a half of a write. */
export function eventOf(when: 'before' | 'after', action: WriteAction): RecordEvent {
  return events[when][action];
}
