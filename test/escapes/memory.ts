// The memory of another process, searched as its owner could search it.
import { open, readFile } from 'node:fs/promises';

/** Larger mappings are reservations that hold next to nothing, and cannot be read in one piece. */
const largest = 512 * 1024 * 1024;

/** The needles that the process has somewhere in its memory, as Latin-1 or as UTF-16. */
export async function memoryHolds(pid: number, needles: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const memory = await open(`/proc/${pid}/mem`);
  try {
    for (const { start, size } of await mappingsOf(pid)) {
      const bytes = await readAt(memory, start, size);
      for (const needle of needles) {
        if (bytes.includes(needle, 0, 'latin1') || bytes.includes(needle, 0, 'utf16le')) found.add(needle);
      }
    }
  } finally {
    await memory.close();
  }
  return [...found];
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
