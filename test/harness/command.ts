// The program as an operator types it.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const sources = fileURLToPath(new URL('../../supervisor/main.ts', import.meta.url));

/** How to run it. */
export interface CommandOptions {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** Another file in place of the sources. */
  program?: string;
  /** Runs it as this user; only root can. */
  user?: { uid: number; gid: number } | undefined;
}

/** Runs `bulkhead` to its end, with nothing of this process's environment but `PATH`, in `cwd`. */
export async function bulkhead(
  args: readonly string[],
  { cwd = '/', env = {}, program = sources, user }: CommandOptions = {},
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    extendEnv: false,
    reject: false,
    ...user,
  });
  return { exitCode, stdout, stderr };
}
