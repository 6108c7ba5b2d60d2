// Programs that stand in for the runner's own, each doing one thing, for tests of what is around a runner.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Opens the channel, says hello, answers every message with the same, and ends with the channel. */
const echo = `
import { Socket } from 'node:net';
const channel = new Socket({ fd: 3, readable: true, writable: true });
channel.on('data', (data: Uint8Array) => channel.write(data));
channel.on('end', () => Deno.exit(0));
channel.write('hello');
`;

/** What a program does with a channel that is open. */
const bodies = {
  echo: '',
  exits: 'channel.once("data", () => Deno.exit(0));',
  fails: 'channel.once("data", () => { console.error("\\u001b[31mred\\u0007 words"); Deno.exit(3); });',
  shouts:
    'channel.once("data", () => { console.error("\\u0007".repeat(6e4)); console.error("last words"); Deno.exit(3); });',
  throws: 'throw new Error("top level");',
  loops: 'channel.once("data", () => { for (;;) {} });',
  deaf: 'Deno.addSignalListener("SIGTERM", () => {}); channel.once("data", () => { for (;;) {} });',
  heap:
    'channel.once("data", () => { const kept = []; for (;;) kept.push(new Array(1e5).fill("x" + kept.length)); });',
  buffers:
    'channel.once("data", () => { const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1)); });',
  floods:
    'channel.once("data", () => { const line = "x".repeat(1e5) + "\\n"; for (;;) console.log(line); });',
  graphics:
    'channel.once("data", async () => { await navigator.gpu.requestAdapter(); channel.write("asked"); });',
  wall: `
const tries = {
  read: () => Deno.readTextFileSync('/etc/passwd'),
  write: () => Deno.writeTextFileSync('/tmp/x', ''),
  env: () => Deno.env.get('PATH'),
  run: () => new Deno.Command('/bin/true').outputSync(),
  listen: () => Deno.listen({ port: 0 }),
  kept: () => { localStorage.setItem('a', 'b'); return localStorage.getItem('a'); },
};
const found = Object.entries(tries).map(([name, go]) => { try { go(); return name; } catch { return ''; } });
channel.once('data', () => channel.write('passed:' + found.filter(Boolean).join()));
`,
};

/** Name of a stand-in. */
export type Program = keyof typeof bodies;

/** Writes all of them into a new folder of `home`, where every user can read them; `echo` is `echo.ts`. */
export async function writePrograms(home: string): Promise<string> {
  const folder = join(home, 'programs');
  await mkdir(folder);
  await chmod(folder, 0o755);
  for (const [name, body] of Object.entries(bodies)) {
    await writeFile(join(folder, `${name}.ts`), echo + body, { mode: 0o644 });
  }
  return folder;
}
