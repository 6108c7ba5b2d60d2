// The bounds of realtime, each with its reason.
import type { LogBounds } from './replay.ts';
import type { SeatLimits } from './stream-quota.ts';
import type { SinkBounds } from './delivery/sink.ts';

/** Everything that could otherwise grow. */
export interface Bounds {
  seats: SeatLimits;
  sink: SinkBounds;
  /** What may wait for the readers of all streams of the process together. */
  backlogBytes: number;
  /** Of one collection's log. */
  log: LogBounds;
  /** Of the frames in all logs of the process together. */
  logsBytes: number;
  /** A log is dropped this long after its last subscriber left. */
  unusedMilliseconds: number;
  pingMilliseconds: number;
  /** How often the one timer looks at every stream. */
  sweepMilliseconds: number;
  /** What a stream that was told to end gets for its last words. */
  endingMilliseconds: number;
}

/** The bounds when none are given. */
export const defaultBounds: Bounds = {
  // All users behind one gateway share an address; one user has a few tabs, one backend service many subscriptions.
  seats: { perPrincipal: 1_000, perAddress: 5_000 },
  sink: { waitingBytes: 1_048_576, stallMilliseconds: 10_000 },
  // Sixteen of the largest bodies, which each of several readers may wait for in a form of its own.
  backlogBytes: 134_217_728,
  // Ten seconds of 1,000 events a second, so that `retry: 3000` finds what it missed.
  log: { events: 10_000, bytes: 4_194_304 },
  logsBytes: 67_108_864,
  unusedMilliseconds: 300_000,
  pingMilliseconds: 15_000,
  // Expiry and revocation must show within 5 s.
  sweepMilliseconds: 1_000,
  endingMilliseconds: 2_000,
};
