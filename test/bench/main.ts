// `npm run bench [name…]`: measures the real server and says what came of it. Flags: --quick, --profile, --rounds, --seconds,
// --minutes (drift), --workspaces, --starts, --fleet (start), --tenants, --active,
// --clients-each, --apps, --rows (audit, transfer), --only (neighbours, honest), --beside (honest).
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchApps } from './apps.ts';
import { benchAudit } from './audit.ts';
import { benchCreate, benchGet, benchHealthz, benchList } from './compared.ts';
import { benchDrift } from './drift.ts';
import { benchFanOut } from './fan-out.ts';
import { benchFiles } from './files.ts';
import type { Findings } from './findings.ts';
import { benchHonest } from './honest.ts';
import { benchHooks } from './hooks.ts';
import { benchCountedList, benchDeepList, benchFilteredList, benchRule } from './narrowed.ts';
import { benchLogins } from './logins.ts';
import { benchMembership } from './membership.ts';
import { benchNeighbours } from './neighbours.ts';
import { benchPolicies } from './policies.ts';
import { report } from './report.ts';
import type { Pace } from './rounds.ts';
import { benchSearch } from './search.ts';
import { benchStart } from './start.ts';
import { benchTenants } from './tenants.ts';
import { benchTransfer } from './transfer.ts';
import { benchWorkspaces } from './workspaces.ts';

const { values: flags, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '32' },
    minutes: { type: 'string', default: '1' },
    workspaces: { type: 'string', default: '20' },
    starts: { type: 'string', default: '5' },
    fleet: { type: 'string', default: '100' },
    tenants: { type: 'string', default: '1000' },
    active: { type: 'string', default: '100' },
    'clients-each': { type: 'string', default: '4' },
    apps: { type: 'string', default: '10,100,500' },
    rows: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
    beside: { type: 'string' },
  },
});

const pace: Pace = {
  rounds: Number(flags.rounds ?? (flags.quick ? 3 : 7)),
  seconds: Number(flags.seconds ?? (flags.quick ? 2 : 5)),
  warmUpSeconds: flags.quick ? 2 : 5,
  connections: Number(flags.connections),
  profile: flags.profile,
};

const { beside } = flags;

const benches: Record<string, () => Promise<Findings>> = {
  get: () => benchGet(pace),
  create: () => benchCreate(pace),
  list: () => benchList(pace),
  rule: () => benchRule(pace),
  'rule-membership': () => benchMembership(pace),
  'list-filtered': () => benchFilteredList(pace),
  'list-counted': () => benchCountedList(pace),
  'list-deep': () => benchDeepList(pace),
  healthz: () => benchHealthz(pace),
  drift: () => benchDrift({ minutes: Number(flags.minutes), connections: pace.connections }),
  workspaces: () => benchWorkspaces({ workspaces: Number(flags.workspaces) }),
  logins: () => benchLogins({ rounds: pace.rounds, seconds: pace.seconds, tries: 200 }),
  files: () => benchFiles({ rounds: Math.min(pace.rounds, 3), seconds: pace.seconds }),
  apps: () => benchApps({ steps: flags.apps.split(',').map(Number), rounds: pace.rounds }),
  audit: () => benchAudit({ rows: Number(flags.rows), rounds: pace.rounds * 5 }),
  transfer: () => benchTransfer({ rows: Number(flags.rows) }),
  hooks: () => benchHooks(pace),
  'fan-out': () => benchFanOut({ rounds: Math.min(pace.rounds, 5) }),
  tenants: () =>
    benchTenants(pace, {
      workspaces: Number(flags.tenants),
      active: Number(flags.active),
      clientsEach: Number(flags['clients-each']),
    }),
  neighbours: () =>
    benchNeighbours({ isQuick: flags.quick, seconds: flags.quick ? 5 : 20, only: flags.only }),
  ...beside === undefined ? {} : { honest: () => benchHonest(pace, resolve(beside), flags.only) },
  search: () => benchSearch({ rows: Number(flags.rows), rounds: Math.min(pace.rounds, 3) }),
  policies: () => benchPolicies({ workspaces: 1_000, rounds: pace.rounds }),
  start: () => benchStart({ starts: Number(flags.starts), fleet: Number(flags.fleet) }),
};

const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(
    `no such bench: ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`,
  );
  process.exit(2);
}
for (const [name, run] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) await report(await run());
}
