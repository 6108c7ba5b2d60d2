// How a command ends: what it prints when it fails, and its exit code.
import { StartRefused } from '../start-refused.ts';
import { CommandFailed } from '../remote/failure.ts';

/**
 * Runs a command and ends the process. A mistake of the user is a short text on standard error, or JSON with `json`; anything
 * else is a defect of ours and shows its stack.
 */
export async function runAndExit(work: () => Promise<void>, { json = false } = {}): Promise<void> {
  // `bulkhead … | head` closes its end when it has read enough.
  process.stdout.on('error', (error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  try {
    await work();
    process.exit();
  } catch (error) {
    const failure = describe(error);
    if (failure === undefined) throw error;
    const { exitCode, code, message } = failure;
    process.stderr.write(json ? `${JSON.stringify({ code, message })}\n` : `bulkhead: ${message}\n`);
    process.exit(exitCode);
  }
}

function describe(error: unknown): Pick<CommandFailed, 'exitCode' | 'code' | 'message'> | undefined {
  if (error instanceof CommandFailed) return error;
  return error instanceof StartRefused ? { exitCode: 1, code: 'refused', message: error.message } : undefined;
}
