// `bulkhead admin password`: a new password for a master admin who has lost the old one.
import type { Config, MasterPassword, ProgramStart } from '../protocol.ts';
import { runOneShot } from './beside-server.ts';

/** Makes the password, tells it, and ends all sessions of the admin. Throws `StartRefused`. */
export async function resetMasterPassword(config: Config, json: boolean): Promise<void> {
  await runOneShot<ProgramStart, MasterPassword>(config, {
    program: 'auth/account/reset-master',
    input: {},
    onResult: (made) => void process.stdout.write(json ? `${JSON.stringify(made)}\n` : describe(made)),
  });
}

function describe({ username, password }: MasterPassword): string {
  return `username: ${username}\npassword: ${password}\n`;
}
