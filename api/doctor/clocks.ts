// Compares the clock of this machine with those of other servers.
import type { Finding } from '../../supervisor/doctor/protocol.ts';

/** How far the clock of another server is ahead of ours, in milliseconds. */
export interface ForeignClock {
  whose: string;
  aheadMs: number;
}

/** A code of an authenticator lives for 30 s. */
const maxSkewMs = 30_000;
/** This was written then. */
const earliest = Date.UTC(2026, 0);

const advice = 'let a time service such as chrony or systemd-timesyncd set the clock of both machines';

/** The finding about all clocks. */
export function examineClocks(clocks: readonly ForeignClock[], now = Date.now()): Finding {
  const date = new Date(now).toISOString();
  if (now < earliest) {
    return { check: 'clock', status: 'failed', message: `the clock of this machine says ${date}`, advice };
  }
  const wrong = clocks.find(({ aheadMs }) => Math.abs(aheadMs) > maxSkewMs);
  if (wrong !== undefined) {
    const seconds = Math.round(Math.abs(wrong.aheadMs) / 1_000);
    const message = `the clock of ${wrong.whose} is ${seconds} s ${
      wrong.aheadMs > 0 ? 'ahead of' : 'behind'
    } ours`;
    return { check: 'clock', status: 'failed', message, advice };
  }
  const agreeing = clocks.map(({ whose }) => whose).join(' and ');
  const message = agreeing === '' ? date : `${date}, as ${agreeing} says`;
  return { check: 'clock', status: 'ok', message, advice: null };
}

/** The difference of a clock that was read between two of ours. `precisionMs` is what it is rounded down to. */
export function compareClock(
  whose: string,
  clock: Date,
  { begin, precisionMs = 0 }: { begin: number; precisionMs?: number },
): ForeignClock {
  return { whose, aheadMs: clock.getTime() + precisionMs / 2 - (begin + Date.now()) / 2 };
}
