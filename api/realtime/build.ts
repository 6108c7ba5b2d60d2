// The realtime of one process, put together.
import { randomBytes } from 'node:crypto';
import type { Config } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { defaultBounds } from './bounds.ts';
import { InProcessBroker } from './broker.ts';
import { type GateDeps, RuleGate } from './visibility/gate.ts';
import { Hub } from './hub.ts';
import type { Report } from './ports.ts';

/** Makes the hub. Changes of definitions reach it through their cache, revocations through the tokens. */
export function createRealtime(
  deps: GateDeps & Pick<Deps, 'observe'> & {
    config: Pick<Config, 'realtime'> & { http: Pick<Config['http'], 'max_body_bytes'> };
  },
): Hub {
  const report = reportTo(deps);
  const { streams_per_principal: perPrincipal, streams_per_address: perAddress } = deps.config.realtime;
  // Events are as large as bodies may be, and one alone shall never be too much.
  const backlogBytes = Math.max(defaultBounds.backlogBytes, 16 * deps.config.http.max_body_bytes);
  return new Hub({
    broker: new InProcessBroker((error) => report('hear of a record', error)),
    gate: new RuleGate(deps),
    report,
    // Not the time of day: set back by an hour, it would have no stream pinged or cut off for an hour.
    now: () => performance.now(),
    cursorKey: randomBytes(16),
    bounds: { streams: { perPrincipal, perAddress }, backlogBytes },
  });
}

/** Failures that no client is told about, as the log has them. */
export function reportTo(deps: Pick<Deps, 'observe'>): Report {
  return (task, error) => logFailure(deps, task)(error);
}
