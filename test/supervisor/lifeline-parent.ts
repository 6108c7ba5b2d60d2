// A supervisor of nothing but sleeping processes, which a test kills. Prints the numbers of what it started.
import { spawn } from '../../supervisor/spawn.ts';

const sleeper = 'sleep 1000 & echo "$! $$"; wait';
const stubborn = `trap '' QUIT TERM INT HUP; ${sleeper}`;
for (const [script, orphanSignal] of [[sleeper, 'KILL'], [sleeper, 'QUIT'], [stubborn, 'QUIT']] as const) {
  spawn({
    file: 'sh',
    args: ['-c', script],
    env: { PATH: '/usr/bin:/bin' },
    orphanSignal,
    onLine: (line) => process.stdout.write(`${line}\n`),
  });
}
