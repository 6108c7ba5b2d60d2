// The program as an operator types it.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const program = fileURLToPath(new URL('../../supervisor/main.ts', import.meta.url));

/** Runs `bulkhead` to its end, with nothing of this process's environment but `PATH`, in `cwd`. */
export async function bulkhead(
  args: readonly string[],
  { cwd = '/', env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    extendEnv: false,
    reject: false,
  });
  return { exitCode, stdout, stderr };
}
