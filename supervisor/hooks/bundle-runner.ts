// A program: writes each program of the runner's folder, with all that it imports, as one file of JavaScript. Deno would
// strip the types and look for the modules at every start of a runner, for a third of what the start takes.
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';

const [, , from = '', to = ''] = process.argv;
for (const program of ['main', 'probe']) {
  const file = join(to, `${program}.js`);
  await build({
    input: join(from, `${program}.ts`),
    external: /^node:/,
    tsconfig: false,
    logLevel: 'silent',
    output: {
      file,
      format: 'esm',
      comments: false,
      // Blanks go, and the names of variables: a quarter of what each runner keeps of it. Those of functions and classes stay,
      // as authors see some; and nothing is moved: what is kept before the first hook file runs (untampered.ts) must be read
      // then, and not where it is used.
      minify: { mangle: { keepNames: true }, compress: false, codegen: true },
    },
  });
  await chmod(file, 0o644);
}
