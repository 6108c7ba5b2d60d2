// hooks.d.ts: what it declares is what hook files find, and a type checker makes sense of it.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hookEvents } from '../../hook-runner/events.ts';
import { startRunner } from './runner.ts';

const declarations = ['hooks', 'numbers', 'lists', 'modifiers', 'records', 'users'].map((name) =>
  fileURLToPath(new URL(`../../hook-runner/${name}.d.ts`, import.meta.url))
);
/** What is served at GET …/hooks/types before the app's own collections. */
const readDeclarations = async () =>
  (await Promise.all(declarations.map((file) => readFile(file, 'utf8')))).join('\n');

describe('the types for authors of hooks', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hook-types-'));
    const own = `
interface HookCollections {
  orders: { title: string; total: number };
  members: { email: string };
  others: { title: string; anything: number };
}
interface HookProfiles {
  members: true;
}
`;
    await writeFile(join(folder, 'hooks.d.ts'), await readDeclarations() + own);
    const compilerOptions = {
      types: ['./hooks.d.ts'],
      lib: ['esnext', 'dom', 'dom.iterable', 'deno.window'],
    };
    await writeFile(join(folder, 'deno.json'), JSON.stringify({ compilerOptions }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** What `deno check` says of a hook file; nothing when it is fine. */
  const check = async (source: string): Promise<string> => {
    await writeFile(join(folder, 'a.ts'), source);
    const env = {
      PATH: process.env['PATH'] ?? '',
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
      DENO_DIR: join(folder, 'cache'),
    };
    const { status, stderr } = spawnSync('deno', ['check', '--quiet', 'a.ts'], {
      cwd: folder,
      env,
      encoding: 'utf8',
      timeout: 60_000,
    });
    return status === 0 ? '' : stderr;
  };

  it('gives the handlers of each event the type that its row in the table says', async () => {
    const text = await readDeclarations();
    for (const { subject, register, when, hasPrevious } of Object.values(hookEvents)) {
      if (subject === 'user') {
        expect(text).toContain(`function ${register}(handler: (event: UserHookEvent) => unknown): void;`);
        continue;
      }
      const [, handler] =
        new RegExp(`function ${register}<[^(]*\\([^)]*handler: ([^)]*?),?\\s*\\)`).exec(text) ?? [];
      const before = hasPrevious ? 'BeforeWrite<C, UpdateHookEvent<C>>' : 'BeforeWrite<C>';
      const after = hasPrevious ? 'AfterUpdate<C>' : 'AfterWrite<C>';
      expect(handler, register).toBe(when === 'before' ? before : after);
    }
  });

  it('declares exactly what the runner adds', async () => {
    const text = await readDeclarations();
    const declared = [...text.matchAll(/^declare (?:function|const|class) ([$\w]+)/gm)].map(([, name]) =>
      name
    );
    const runner = await startRunner();
    await runner.load({
      'a.ts': `
        routerAdd('GET', '/own', () => Object.getOwnPropertyNames(globalThis).filter((name) =>
          /^(on[A-Z]|[$]app|routerAdd|cronAdd|HttpError|FieldError|AppError)/.test(name)));
        routerAdd('GET', '/app', () => Object.fromEntries(Object.entries($app).map(([k, v]) => [k, typeof v === 'object' ? Object.keys(v) : typeof v])));`,
    });
    const { body } = await runner.next('response', runner.request('GET /own'));
    const own: unknown = JSON.parse(body !== null && 'text' in body ? body.text : '');
    const app = await runner.next('response', runner.request('GET /app'));
    await runner.kill();
    expect([own].flat().sort()).toEqual(declared.sort());
    const members: Record<string, unknown> = JSON.parse(
      app.body !== null && 'text' in app.body ? app.body.text : '',
    );
    for (const [name, methods] of Object.entries(members)) {
      expect(text).toMatch(
        new RegExp(methods === 'function' ? `^ {2}${name}\\(` : `readonly ${name}: `, 'm'),
      );
      if (name === 'env' || !Array.isArray(methods)) continue;
      for (const method of methods) {
        expect(text).toMatch(new RegExp(`\\b${method}(<|\\(|: LogLine)|'${method}'`));
      }
    }
  });

  it('accepts a typical hook file', async () => {
    expect(
      await check(`
      onRecordBeforeCreate('orders', (e) => {
        e.record.fields.total = Math.round(e.record.fields.total);
        if (e.auth === null) return false;
      });
      onRecordBeforeCreate('others', () => { throw new FieldError('title', 'is in use', 'taken'); });
      onRecordBeforeUpdate('others', (e) => { if (e.previous.fields.anything > 1) throw new Error('no'); });
      routerAdd('GET', '/orders/:id', async (e) => {
        const found = await $app.records.findOne('orders', e.params.id ?? '');
        if (found === null) throw new HttpError(404, 'no_order', 'there is none');
        $app.log.info('read', { total: found.fields.total });
        return Response.json(found.fields);
      });
      routerAdd('GET', '/files/:id', async (e) => {
        const file = await $app.files.get(e.params.id ?? '');
        return file === null ? undefined : new Response(file.bytes, { headers: { 'content-type': file.mime } });
      });
      cronAdd('nightly', '0 3 * * *', (e) => console.log(e.scheduledAt));
    `),
    ).toBe('');
  });

  it('knows the id that a new record shall have, and the password of a new profile', async () => {
    expect(
      await check(`
      await $app.records.create('orders', { id: crypto.randomUUID(), title: 'a' });
      await $app.records.create('members', { email: 'ada@example.com', password: 'correct horse' });
      await $app.records.create('others', { id: crypto.randomUUID(), anything: 1 });
    `),
    ).toBe('');
    expect(await check(`await $app.records.create('orders', { password: 'correct horse' });`)).toContain(
      "'password' does not exist",
    );
  });

  it('finds wrong field names, arguments and globals', async () => {
    const complaints = await check(`
      onRecordBeforeCreate('orders', (e) => { e.record.fields.titel = 'x'; });
      onRecordBeforeCreate('orders', (e) => { e.record.fields = { title: 'x', total: 1 }; });
      routerAdd('GET', () => 1);
      $app.records.findAll('orders');
      onRecordAfterDelete('ordres', () => 1);
      await $app.records.count('member');
    `);
    for (const word of ['titel', "'fields'", 'Expected 3 arguments', 'findAll', '"ordres"', '"member"']) {
      expect(complaints).toContain(word);
    }
  });
});
