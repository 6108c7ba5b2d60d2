// The options of the hooks of one process, besides those of each app.
import type { AppDefinition } from '../../storage/definition.ts';
import type { ApiPeers } from '../process/peers.ts';
import type { TypeCheckDeps } from './files/warnings.ts';
import type { Schedule } from './jobs/schedule.ts';
import type { CronTimes } from './jobs/times.ts';

/** The parts of the server that the hooks of all apps share. */
export interface HookRunnersOptions {
  /** The app of these ids, as it is now. */
  findApp: (workspace: string, app: string) => Promise<AppDefinition | undefined>;
  /** In the process that keeps it. */
  schedule: Schedule | undefined;
  times: CronTimes;
  /** Most runners at once. */
  maxRunners: number;
  /** The other API processes. */
  peers: ApiPeers;
  checker: TypeCheckDeps['host'];
}
