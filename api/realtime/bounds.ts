// The bounds of realtime, each with its reason.
import type { LogBounds } from './replay.ts';
import type { StreamLimits } from './stream-quota.ts';
import type { SinkBounds } from './delivery/sink.ts';

/** Everything that could otherwise grow. */
export interface Bounds {
  streams: StreamLimits;
  sink: SinkBounds;
  /** What may wait for the readers of all streams of the process together. */
  backlogBytes: number;
  /** Of one collection's log. */
  log: LogBounds;
  /** Of the frames in all logs of the process together. */
  logsBytes: number;
  /** A log is dropped this long after its last subscriber left. */
  unusedMs: number;
  pingMs: number;
  /** How often the one timer looks at every stream. */
  sweepMs: number;
  /** What a stream that was told to end gets for its last words. */
  endingMs: number;
}

/** The bounds when none are given. */
export const defaultBounds: Bounds = {
  // All users behind one gateway share an address; one user has a few tabs, one backend service many subscriptions.
  streams: { perPrincipal: 1_000, perAddress: 5_000 },
  sink: { waitingBytes: 1_048_576, stallMs: 10_000 },
  // Sixteen of the largest bodies, which each of several readers may wait for in a form of its own.
  backlogBytes: 134_217_728,
  // Ten seconds of 1,000 events a second, so that `retry: 3000` finds what it missed.
  log: { events: 10_000, bytes: 4_194_304 },
  logsBytes: 67_108_864,
  unusedMs: 300_000,
  pingMs: 15_000,
  // Expiry and revocation must show within 5 s.
  sweepMs: 1_000,
  endingMs: 2_000,
};
