// The memory of another process, searched as its owner could search it.
import { open, readFile } from 'node:fs/promises';
import { expect } from 'vitest';

/** Larger mappings are reservations that hold next to nothing, and cannot be read in one piece. */
const largest = 512 * 1024 * 1024;

/** The needles that the process has somewhere in its memory, as Latin-1 or as UTF-16. */
export async function memoryHolds(pid: number, needles: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const memory = await open(`/proc/${pid}/mem`);
  // A process that runs gives memory back between the look at its mappings and the look into one.
  process.kill(pid, 'SIGSTOP');
  try {
    await expect.poll(() => stateOf(pid)).toBe('T');
    for (const { start, size } of await mappingsOf(pid)) {
      const bytes = await readAt(memory, start, size);
      for (const needle of needles) {
        if (bytes.includes(needle, 0, 'latin1') || bytes.includes(needle, 0, 'utf16le')) found.add(needle);
      }
    }
  } finally {
    process.kill(pid, 'SIGCONT');
    await memory.close();
  }
  return [...found];
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; the name may hold spaces and parentheses. */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat[stat.lastIndexOf(')') + 2];
}

/** https://man7.org/linux/man-pages/man5/proc_pid_maps.5.html */
async function mappingsOf(pid: number): Promise<{ start: bigint; size: number }[]> {
  const lines = (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line) ?? [];
    if (from === undefined || to === undefined || line.includes('[v')) return [];
    const start = BigInt(`0x${from}`);
    const size = Number(BigInt(`0x${to}`) - start);
    return size > largest ? [] : [{ start, size }];
  });
}

async function readAt(
  memory: Awaited<ReturnType<typeof open>>,
  start: bigint,
  size: number,
): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const position = start + BigInt(filled);
    const { bytesRead } = await memory.read({ buffer, offset: filled, length: size - filled, position });
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
