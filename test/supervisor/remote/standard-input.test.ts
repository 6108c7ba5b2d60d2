// Commands in a script that a shell reads from a pipe, as in `curl … | bash`.
import { once } from 'node:events';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';

const prompt = join(import.meta.dirname, '../../../supervisor/remote/prompt.ts');
const command =
  `import('${prompt}').then(({ canAsk }) => { console.error(canAsk()); setInterval(() => 0, 1000); })`;

it('a command that goes on in the background leaves the pipe as it was for the shell that reads from it', async () => {
  const shell = execa('bash', ['-s'], { reject: false, timeout: 50_000 });
  shell.stdin.write(`"${process.execPath}" -e "${command}" <&0 &\n`);
  const [can] = await once(shell.stderr, 'data');
  expect(String(can)).toBe('false\n');
  shell.stdin.end('grep flags: /proc/$$/fdinfo/0; kill $!\n');
  // Without O_NONBLOCK (octal 4000), which makes bash give up where it finds nothing to read yet.
  expect(await shell).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^flags:\s+0?2$/) });
});
