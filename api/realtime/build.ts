// Creates the realtime hub of one process.
import { randomBytes } from 'node:crypto';
import type { Config } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { defaultBounds } from './bounds.ts';
import { InProcessBroker } from './broker.ts';
import { type GateDeps, RuleGate } from './visibility/gate.ts';
import { Hub } from './hub.ts';
import type { Report } from './ports.ts';

/** Creates the hub. Changes of definitions reach it through their cache, revocations through the tokens. */
export function createRealtime(
  deps: GateDeps & Pick<Deps, 'observe'> & {
    spentShares: Pick<Deps['spentShares'], 'note'>;
    config: Pick<Config, 'realtime'> & { http: Pick<Config['http'], 'max_body_bytes'> };
  },
): Hub {
  const report = reportTo(deps);
  const { streams_per_principal: perPrincipal, streams_per_address: perAddress } = deps.config.realtime;
  // An event can be as large as a request body, and a single event must never exceed the limit.
  const backlogBytes = Math.max(defaultBounds.backlogBytes, 16 * deps.config.http.max_body_bytes);
  return new Hub({
    broker: new InProcessBroker((error) => report('hear of a record', error)),
    gate: new RuleGate(deps),
    report,
    // A monotonic clock: with the time of day, a clock set back would stop pings and timeouts.
    now: () => performance.now(),
    cursorKey: randomBytes(16),
    onCut: (workspace) =>
      deps.spentShares.note({ share: 'bytes that wait for readers of streams', workspace }),
    bounds: { streams: { perPrincipal, perAddress }, backlogBytes },
  });
}

/** Logs failures that no client sees. */
export function reportTo(deps: Pick<Deps, 'observe'>): Report {
  return (task, error) => logFailure(deps, task)(error);
}
