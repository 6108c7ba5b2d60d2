// Room for young objects, in a process of its own: flags of V8 are for all of a process, and for good.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const mebibyte = 1_048_576;

it(
  'V8 gives young objects the room they need, and no more than 16 MiB twice',
  { timeout: 60_000 },
  async () => {
    const child = fork(new URL('./young-heap-work.ts', import.meta.url));
    const gone = once(child, 'exit');
    const [capacity] = await once(child, 'message');
    await gone;
    // Not to the byte: V8 keeps notes of its own on each page, and may be a page ahead.
    expect(capacity / mebibyte).toBeGreaterThan(15);
    expect(capacity / mebibyte).toBeLessThan(20);
  },
);
