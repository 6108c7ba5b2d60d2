// Starting where no database answers: it is waited for, and an operator sees for what.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';

const program = join(import.meta.dirname, '../../supervisor/main.ts');

let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-start-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

it.each([
  ['nobody listens', undefined, /^connect ECONNREFUSED 127\.0\.0\.1:\d+$/],
  ['somebody says nothing', () => undefined, /^no response$/],
  [
    'a web server answers',
    (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /^no response$/,
  ],
])('where %s it says so', async (_, listener, reason) => {
  const other = createServer(listener);
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  if (listener === undefined) await once(other.close(), 'close');
  const url = `--set=database.url=postgres://u:p@127.0.0.1:${port}/x`;
  const arguments_ = [program, 'serve', `--data-dir=${home}/data`, '--http-port=0', url];
  const starting = execa('node', arguments_, { all: true, reject: false });
  for await (const line of starting.iterable({ from: 'all' })) {
    const said = /"the database does not respond yet: (.*?)"/.exec(line)?.[1];
    if (said === undefined) continue;
    expect(said).toMatch(reason);
    starting.kill();
    break;
  }
  // It was waiting, and ends as it was told to, not for having waited long enough.
  expect((await starting).all).not.toContain('bulkhead: ');
  other.close();
});
