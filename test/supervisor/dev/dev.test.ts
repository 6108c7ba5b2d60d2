// `bulkhead init` and `bulkhead dev`, as a newcomer uses them in an empty folder.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { follow } from '../../harness/documentation-page.ts';
import { freePort } from '../../harness/free-port.ts';
import { type CommandUser, makeCommandUser } from '../../harness/user-folder.ts';

const program = fileURLToPath(new URL('../../../supervisor/main.ts', import.meta.url));
const tsc = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url));

let user: CommandUser;
let port = 0;
beforeAll(async () => {
  port = await freePort();
  user = await makeCommandUser();
});
afterAll(() => user.remove());

const inProject = (path: string) => join(user.folder, path);

describe('bulkhead init', () => {
  it('begins a project whose hooks have the right types', async () => {
    const { wrote } = await user.json(['init', '--app', 'shop']);
    expect(wrote).toEqual([
      ...[
        'bulkhead.config.ts',
        'bulkhead/project.json',
        'bulkhead/schema/posts.json',
        'bulkhead/hooks/posts.ts',
      ],
      ...['bulkhead/hooks/tsconfig.json', 'bulkhead/hooks/hooks.d.ts', '.gitignore'],
    ]);
    await execa(tsc, ['-p', inProject('bulkhead/hooks')]);
  });

  it('overwrites nothing', async () => {
    await writeFile(inProject('bulkhead/schema/posts.json'), '{}');
    await rm(inProject('bulkhead.config.ts'));
    await writeFile(inProject('bulkhead.config.json'), '{}');
    const again = await user.json(['init']);
    expect(again.wrote).toEqual([]);
    expect(await readFile(inProject('bulkhead/schema/posts.json'), 'utf8')).toBe('{}');
    await rm(inProject('bulkhead/schema/posts.json'));
    const { stdout } = await user.run(['init']);
    expect(stdout).toMatch(
      /^wrote bulkhead\/schema\/posts\.json\nkept {2}bulkhead\.config\.ts, which is there already/,
    );
  });

  it('refuses names that no app can have', async () => {
    const { exitCode, stderr } = await user.run(['init', 'other', '--app', 'My App']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--app') });
  });
});

describe('bulkhead dev', () => {
  /** Starts it; `shows` waits for a text on its output. */
  function start() {
    const running = execa(process.execPath, [program, 'dev', `--http-port=${port}`], {
      cwd: user.folder,
      env: { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: inProject('.config') },
      extendEnv: false,
      all: true,
      buffer: false,
      reject: false,
      forceKillAfterDelay: false,
    });
    let output = '';
    running.all.setEncoding('utf8').on('data', (text: string) => output += text);
    const shows = (pattern: RegExp) =>
      vi.waitFor(() => {
        const found = pattern.exec(output);
        if (found === null) throw new Error(`${pattern} does not come:\n${output}`);
        return found;
      }, { timeout: 60_000, interval: 20 });
    return { running, shows };
  }

  it('refuses a folder without a project', async () => {
    await mkdir(inProject('empty'));
    const { exitCode, stderr } = await execa(process.execPath, [program, 'dev'], {
      cwd: inProject('empty'),
      reject: false,
    });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('bulkhead init'),
    });
  });

  it('serves the project, and takes over what is saved, right or wrong', async () => {
    const { running, shows } = start();
    const [, api = ''] = await shows(/^ {2}API +(\S+)$/m);
    await shows(/^ {2}Password +\S{16}, of the master admin/m);
    await shows(/^ {2}Outbox +\S+\/data\/outbox/m);
    const get = async (path: string) => (await fetch(api + path)).json();
    expect(await get('/custom/hello/ada')).toEqual({ hello: 'ada' });
    expect(await get('/collections/posts/records')).toMatchObject({ items: [] });

    const hooks = inProject('bulkhead/hooks/posts.ts');
    const source = await readFile(hooks, 'utf8');
    await writeFile(hooks, source.replace('hello: e', 'hi: e'));
    await shows(/pushed posts\.ts\n[^]*pushed posts\.ts\n/);
    expect(await get('/custom/hello/ada')).toEqual({ hi: 'ada' });

    const bad = inProject('bulkhead/hooks/bad.ts');
    await writeFile(bad, 'this is no code\n');
    await shows(/^bulkhead: bad\.ts:1:/m);
    await writeFile(inProject('bulkhead/schema/notes.json'), '{ "kind": "base", "fields": [');
    await shows(/^bulkhead: bulkhead\/schema\/notes\.json: /m);
    await rm(bad);
    await shows(/^removed bad\.ts$/m);

    const notes = {
      kind: 'base',
      fields: [{ name: 'post', kind: 'relation', target: 'posts' }],
      rules: { list: { template: 'any' } },
    };
    await writeFile(inProject('bulkhead/schema/notes.json'), JSON.stringify(notes));
    await shows(/^pushed notes\.json, posts\.json$/m);
    expect(await get('/collections/notes/records')).toMatchObject({ items: [] });
    await writeFile(inProject('bulkhead/schema/Tags.json'), JSON.stringify({ ...notes, fields: [] }));
    await shows(/^pushed Tags\.json, notes\.json, posts\.json$/m);
    expect(await get('/collections/Tags/records')).toMatchObject({ items: [] });
    await vi.waitFor(async () =>
      expect(await readFile(inProject('bulkhead/hooks/hooks.d.ts'), 'utf8')).toContain('  notes: {')
    );
    await writeFile(inProject('bulkhead/schema/notes.json'), JSON.stringify({ ...notes, fields: [] }));
    await shows(
      /^bulkhead: bulkhead\/schema\/notes\.json: .*post: is missing, and this drops no data: put it back/m,
    );
    running.kill('SIGINT');
    expect((await running).exitCode).toBe(0);
  });

  it('goes on where it was after a start anew', async () => {
    const { running, shows } = start();
    await shows(/^ {2}API +\S+$/m);
    const output = await shows(/^[^]*Save a file/);
    expect(output[0]).not.toContain('Password');
    expect(output[0]).not.toContain('pushed posts.ts');
    running.kill('SIGTERM');
    expect((await running).exitCode).toBe(0);
  });

  it('says what to do where nobody is signed in, and serves', async () => {
    await rm(inProject('.config'), { recursive: true });
    const { running, shows } = start();
    await shows(/^bulkhead: nothing is pushed, as nobody is signed in: bulkhead login --url http/m);
    running.kill('SIGTERM');
    expect((await running).exitCode).toBe(0);
  });
});

it('docs/how-to/start-a-project.md can be followed', async () => {
  const free = String(await freePort());
  // A job of a shell that is typed into must not share its input.
  const instead = { '8080 &': '8080 </dev/null &', '8080': free };
  await follow('docs/how-to/start-a-project.md', { instead, before: 'set -m\n' });
});
