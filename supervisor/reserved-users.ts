// Users that only processes of this server run as, when root starts it: numbers that nothing else on Linux takes.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** The users of one server. */
export interface ReservedUsers {
  /** Those of hook runners, one each. */
  runners: { first: number; count: number };
  /** That of the API processes. */
  api: number;
}

/** The most runners that a server can have, so the width of its range of users. */
const rangeWidth = 10_000;
/** See https://systemd.io/UIDS-GIDS/. Each data directory has a range for its runners, and one user after all ranges. */
const unused = { first: 1_879_048_192, ranges: 26_000 };
const firstApi = unused.first + unused.ranges * rangeWidth;
/** The same for a container that has only the first 65,536 users. */
const unusedInContainer: ReservedUsers = { runners: { first: 60_578, count: 600 }, api: 61_178 };

/** The users of the server whose files of runners are in `folder`. */
export async function reservedUsers(folder: string): Promise<ReservedUsers> {
  // https://man7.org/linux/man-pages/man7/user_namespaces.7.html; lines of `inside outside length`
  const map = await readFile('/proc/self/uid_map', 'utf8');
  const isMapped = map.trim().split('\n').some((line) => {
    const [inside = 0, , length = 0] = line.trim().split(/\s+/).map(Number);
    return inside <= unused.first && inside + length >= firstApi + unused.ranges;
  });
  if (!isMapped) return unusedInContainer;
  const range = createHash('sha256').update(folder).digest().readUInt32LE() % unused.ranges;
  return {
    runners: { first: unused.first + range * rangeWidth, count: rangeWidth },
    api: firstApi + range,
  };
}

/** True of the user of the API processes of whatever server, as of one whose data directory was elsewhere before. */
export function isReservedForApi(uid: number): boolean {
  return uid === unusedInContainer.api || uid >= firstApi && uid < firstApi + unused.ranges;
}
