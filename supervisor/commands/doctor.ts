// `bulkhead doctor`: says what keeps a server of this configuration from its work, and what to do about it.
import type { ResolvedConfig } from '../config.ts';
import { examine } from '../doctor/examine.ts';
import type { Finding } from '../doctor/protocol.ts';
import { printable, printJson, printLine } from '../remote/print.ts';

/** Examines and prints. Returns true when nothing has failed. */
export async function doctor(
  resolved: ResolvedConfig | { problem: string },
  json: boolean,
): Promise<boolean> {
  const findings: Finding[] = [];
  for await (const finding of examine(resolved)) {
    findings.push(finding);
    if (!json) print(finding);
  }
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const [faults, warnings] = [count('failed'), count('warning')];
  if (json) printJson({ ok: faults === 0, findings });
  else printLine(`\n${summarize(faults, warnings)}`);
  return faults === 0;
}

const statusWidth = 9;
const checkWidth = 15;

function print({ status, check, message, advice }: Finding): void {
  printLine(`${status.padEnd(statusWidth)}${check.padEnd(checkWidth)}${printable(message)}`);
  if (advice !== null) printLine(`${' '.repeat(statusWidth + checkWidth)}→ ${printable(advice)}`);
}

function summarize(faults: number, warnings: number): string {
  if (faults > 0) return `${faults} of these must be put right before the server does its work.`;
  return warnings > 0 ? 'The server can do its work; see the warnings.' : 'All is well.';
}
