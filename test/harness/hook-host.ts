// Hook runners without a supervisor: real Deno processes with the flags of the sandbox's lower level, for tests of the API's side.
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { HostedRunner, RunnerHost } from '../../api/hooks/host.ts';

const root = join(import.meta.dirname, '../..');
const flags = [
  ...[
    'run',
    '--quiet',
    '--no-prompt',
    '--no-config',
    '--no-lock',
    '--no-remote',
    '--no-npm',
    '--cached-only',
  ],
  ...['--node-modules-dir=none', '--no-code-cache', '--no-check'],
  ...['read', 'write', 'net', 'env', 'sys', 'run', 'ffi', 'import'].map((name) => `--deny-${name}`),
  '--v8-flags=--jitless,--max-heap-size=128',
  join(root, 'hook-runner/main.ts'),
];

/** A host that counts what it starts. */
export interface TestHost extends RunnerHost {
  /** Process numbers, oldest first. */
  readonly pids: readonly number[];
  /** Kills whatever still runs. */
  close(): void;
}

/** Makes one. */
export function testHost(): TestHost {
  const pids: number[] = [];
  const kills = new Set<() => void>();
  return {
    pids,
    forgive: () => {},
    close: () => kills.forEach((kill) => kill()),
    start: async (wish): Promise<HostedRunner> => {
      const child = spawn(join(root, 'node_modules/deno/deno'), flags, {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        env: { DENO_DIR: '/proc/nonexistent', NO_COLOR: '1' },
        cwd: '/',
      });
      const socket = child.stdio[3];
      if (!(socket instanceof Socket)) throw new Error('descriptor 3 is no socket');
      let stderr = '';
      child.stderr?.on('data', (part) => {
        stderr += String(part);
        wish.onOutput(String(part));
      });
      child.stdout?.on('data', (part) => wish.onOutput(String(part)));
      const kill = () => void child.kill('SIGKILL');
      kills.add(kill);
      const exited = new Promise<{ reason: 'exited' | 'crashed'; stderr: string }>((resolve) =>
        child.on('exit', (code) => {
          kills.delete(kill);
          resolve({ reason: code === 0 ? 'exited' : 'crashed', stderr });
        })
      );
      pids.push(child.pid ?? 0);
      return {
        pid: child.pid ?? 0,
        socket,
        exited,
        stop: () => {},
        kill,
        measure: () => Promise.resolve({ cpu_ms: 0, rss_bytes: 0 }),
      };
    },
  };
}
