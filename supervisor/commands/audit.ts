// `bulkhead audit verify`: says whether audit logs are as they were written.
import type { Config, VerifiedLog, VerifyStart } from '../protocol.ts';
import { StartRefused } from '../start-refused.ts';
import { runOneShot } from './beside-server.ts';

/** The logs to verify, and the form of the output. */
export interface VerifyOptions {
  log: VerifyStart['log'];
  head: VerifyStart['head'];
  json: boolean;
}

/** The wish that flags stand for. Throws `StartRefused`. */
export function readVerifyOptions(
  own: (name: string) => string | undefined,
): Pick<VerifyOptions, 'log' | 'head'> {
  const workspace = own('workspace');
  const log = workspace !== undefined ? { workspace } : own('system') === undefined ? 'all' : 'system';
  const text = own('head');
  if (text === undefined) return { log, head: null };
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new StartRefused('--head must be a head that audit verify printed, like 1204:9f86…');
  }
  if (log === 'all') throw new StartRefused('--head is of one log: add --workspace <id> or --system');
  return { log, head: { seq: Number(seq), hash } };
}

/** Returns true if all is as it was written. Throws `StartRefused`. */
export async function verifyAudit(config: Config, { log, head, json }: VerifyOptions): Promise<boolean> {
  let faulty = 0;
  await runOneShot<VerifyStart, VerifiedLog>(config, {
    program: 'audit/verify',
    input: { log, head },
    onResult: (verified) => {
      faulty += verified.faulty;
      process.stdout.write(json ? `${JSON.stringify(verified)}\n` : describe(verified));
    },
  });
  return faulty === 0;
}

function describe({ log, sound, waiting, removed, head, faults, faulty }: VerifiedLog): string {
  const counts = [`${sound} sound`];
  if (waiting > 0) counts.push(`${waiting} waiting for their seal`);
  if (removed > 0) counts.push(`${removed} removed by retention`);
  const lines = [`${log}: ${faulty === 0 ? 'ok' : 'BROKEN'}: ${counts.join(', ')}; head ${head}`];
  for (const { seq, id, what } of faults) {
    const where = [...(seq === null ? [] : [`seal ${seq}`]), ...(id === null ? [] : [`row ${id}`])].join(
      ', ',
    );
    lines.push(`  ${where === '' ? '' : `${where}: `}${what}`);
  }
  if (faulty > faults.length) lines.push(`  and ${faulty - faults.length} more`);
  return `${lines.join('\n')}\n`;
}
