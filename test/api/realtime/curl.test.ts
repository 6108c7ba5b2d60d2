// Live changes as `curl -N` shows them.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { scenario } from '../../harness/scenario.ts';
import { tokenOf, watched } from '../../harness/watched.ts';

const running: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const curl of running.splice(0)) curl.kill();
});

/** Runs curl and gathers what it prints. */
function curl(...args: string[]) {
  const child = spawn('curl', ['-sN', ...args]);
  running.push(child);
  // It may have ended before the last of what it printed is read.
  const exited = once(child, 'exit');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => printed += chunk);
  const until = async (text: string) => {
    while (!printed.includes(text)) await once(child.stdout, 'data');
  };
  return { exited, until, printed: () => printed };
}

it('curl -N shows changes as they happen, those that the rule lets its user see', async () => {
  const app = await scenario();
  const ada = await app.user();
  const orders = await watched(app, { list: 'owner = @request.auth.id' });
  const stream = curl(serverUrl() + orders.events, '-H', `Authorization: Bearer ${tokenOf(ada)}`);
  await stream.until(': connected\nretry: 3000\n');
  await orders.create({ title: 'of another', owner: 'somebody' });
  const mine = await orders.create({ title: 'mine', owner: ada.id });
  await stream.until('"title":"mine"');
  const changed = await orders.change(mine.id, { title: 'changed' });
  await orders.remove(mine.id);
  await stream.until('event: record_deleted');
  const blocks = stream.printed().split('\n\n').slice(1, -1).map((block) =>
    block.split('\n').slice(1).join('\n')
  );
  expect(blocks).toEqual([
    `event: record_created\ndata: ${JSON.stringify(mine)}`,
    `event: record_updated\ndata: ${JSON.stringify(changed)}`,
    `event: record_deleted\ndata: ${JSON.stringify(changed)}`,
  ]);
  await app.setRules(orders.name, { list: 'admin' });
  await stream.until('event: unauthorized');
  const [code] = await stream.exited;
  expect(code).toBe(0);
});
