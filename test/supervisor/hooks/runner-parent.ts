// A supervisor of nothing but hook runners, which a test kills: one idle, one in a loop, at each level.
// Prints their numbers. Its arguments are a folder for what they need, and that of programs.
import { openDesk, planAt } from './runner-desk.ts';

const [, , home = '', code = ''] = process.argv;
for (const level of ['deno', 'os'] as const) {
  const plan = await planAt(level, home, code);
  for (const program of ['echo', 'deaf'] as const) {
    const { start } = openDesk({ plan, program });
    const { pid, socket } = await start();
    // What it echoes, it has read: the loop begins with the same message.
    socket.on('data', (data: Buffer) => String(data).endsWith('go') && process.stdout.write(`${pid}\n`));
    socket.write('go');
  }
}
