// Attempts to reach files: 1 to 41.
import { type Attempt, numbered } from './attempt.ts';

/** Read, write, list, watch, or only learn that something is there. */
export const fileAttempts: readonly Attempt[] = numbered(1, [
  ['Deno.readTextFile of /etc/passwd', `Deno.readTextFile('/etc/passwd')`],
  ['Deno.readTextFile of another app’s hook', `Deno.readTextFile(OTHER)`],
  ['Deno.readTextFile of its own hooks', `Deno.readTextFile(DIR + '/hooks/own.js')`],
  ['traversal out of the hooks', `Deno.readTextFile(DIR + '/hooks/../../../../../../../etc/passwd')`],
  ['a symbolic link to a secret', `Deno.readTextFile(DIR + '/hooks/link.txt')`],
  ['a symbolic link to a folder', `Deno.readTextFile(DIR + '/hooks/linked/secret.txt')`],
  ['a symbolic link to the environment', `Deno.readTextFile(DIR + '/hooks/environ')`],
  ['import through a symbolic link', `import(DIR + '/hooks/link.js').then((m) => m.default)`],
  [
    'import of a text through a symbolic link',
    `import(DIR + '/hooks/link.txt', { with: { type: 'text' } }).then((m) => m.default)`,
  ],
  ['Deno.symlinkSync', `Deno.symlinkSync('/etc/passwd', SINK + '/link')`],
  ['Deno.linkSync', `Deno.linkSync('/etc/passwd', SINK + '/hard')`],
  ['a write among the hooks', `Deno.writeTextFileSync(DIR + '/hooks/own.js', '')`],
  ['a write to a folder for all', `Deno.writeTextFileSync(SINK + '/written', 'x')`],
  ['Deno.makeTempFile', `Deno.makeTempFileSync({ dir: SINK })`],
  ['Deno.removeSync', `Deno.removeSync(DIR + '/hooks/own.js')`],
  ['Deno.renameSync', `Deno.renameSync(DIR + '/hooks/own.js', SINK + '/moved')`],
  ['/proc/self/environ', `Deno.readTextFileSync('/proc/self/environ').length > 0`],
  ['/proc/self/maps', `Deno.readTextFileSync('/proc/self/maps').length > 0`],
  ['/proc/self/cmdline', `Deno.readTextFileSync('/proc/self/cmdline').length > 0`],
  ['/proc/self/fd/3', `Deno.openSync('/proc/self/fd/3', { read: true, write: true }).rid > 0`],
  ['/proc/self/root', `Deno.readTextFileSync('/proc/self/root/etc/passwd')`],
  ['/dev/mem', `Deno.openSync('/dev/mem').rid > 0`],
  ['/dev/urandom', `Deno.openSync('/dev/urandom').rid > 0`],
  ['/dev/tty', `Deno.writeTextFileSync('/dev/tty', 'x')`],
  ['Deno.statSync of /etc', `Deno.statSync('/etc').isDirectory`],
  ['Deno.readDirSync of /', `[...Deno.readDirSync('/')].map((e) => e.name).sort().join()`],
  ['Deno.realPathSync', `Deno.realPathSync(DIR + '/hooks/link.txt')`],
  ['Deno.cwd', `Deno.cwd()`],
  ['Deno.chdir', `Deno.chdir('/etc')`],
  ['Deno.watchFs', `typeof Deno.watchFs('/etc')`],
  ['fetch of a file', `fetch('file:///etc/passwd').then((r) => r.text())`],
  ['fs.readFileSync', `(await import('node:fs')).readFileSync('/etc/passwd', 'utf8')`],
  ['fs.readdirSync', `(await import('node:fs')).readdirSync('/').sort().join()`],
  ['fs.openAsBlob', `(await (await import('node:fs')).openAsBlob('/etc/passwd')).text()`],
  ['fs.existsSync', `(await import('node:fs')).existsSync('/etc/passwd')`],
  ['fs.accessSync', `(await import('node:fs')).accessSync('/etc/passwd')`],
  ['fs.cpSync', `(await import('node:fs')).cpSync('/etc/passwd', SINK + '/copy')`],
  ['fs.writeFileSync', `(await import('node:fs')).writeFileSync(SINK + '/written', 'x')`],
  ['fs.mkdtempSync', `(await import('node:fs')).mkdtempSync(SINK + '/dir')`],
  ['fs.statfsSync', `typeof (await import('node:fs')).statfsSync('/').bsize`],
  [
    'reads of every descriptor to 40',
    `(async () => {
      const fs = await import('node:fs');
      const read = [];
      for (let fd = 3; fd <= 40; fd++) {
        try {
          fs.readSync(fd, new Uint8Array(8));
          read.push(fd);
        } catch { /* closed, or not to be read */ }
      }
      return read.join();
    })()`,
  ],
]);
