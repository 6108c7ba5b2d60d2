// The limits of realtime and their defaults.
import type { LogBounds } from './replay.ts';
import type { StreamLimits } from './stream-quota.ts';
import type { SinkBounds } from './delivery/sink.ts';

/** The limits of streams, logs and the memory that both take. */
export interface Bounds {
  streams: StreamLimits;
  sink: SinkBounds;
  /** Bytes that may wait for the readers of all streams of the process together. */
  backlogBytes: number;
  /** The size of one collection's log. */
  log: LogBounds;
  /** Bytes of the frames in all logs of the process together. */
  logsBytes: number;
  /** A log is dropped this long after its last subscriber left. */
  unusedMs: number;
  pingMs: number;
  /** The interval in which every stream is checked. */
  sweepMs: number;
  /** The interval in which it is checked what rules read of callers. */
  callersMs: number;
  /** The time in which an ending stream may send what waits, before it is cut off. */
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
  // A profile that changes must show within 5 s, too.
  callersMs: 2_000,
  endingMs: 2_000,
};
