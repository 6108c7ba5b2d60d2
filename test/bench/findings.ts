// What a bench has to say, before it is a table, a file or a plot.
import type { Spread } from './statistics.ts';

/** One measured quantity. `baseline` is the yardstick's, or whatever it is compared with. */
export interface Figure {
  name: string;
  unit: string;
  ours: Spread;
  baseline?: Spread;
  ratio?: Spread;
  /** What the figure should reach, in words, and whether it does. */
  goal?: { text: string; reached: boolean };
}

/** A line over time, for a bench that watches something change. */
export interface Series {
  name: string;
  unit: string;
  /** Seconds since the start, and the value. */
  points: readonly (readonly [number, number])[];
}

/** All that a bench says. */
export interface Findings {
  bench: string;
  /** What was compared with what. */
  title: string;
  /** What the two columns are, when they are not `ours` and `yardstick`. */
  sides?: readonly [string, string];
  figures: readonly Figure[];
  series?: readonly Series[];
  /** Every single round or run, for whoever wants to look closer. */
  raw?: unknown;
}
