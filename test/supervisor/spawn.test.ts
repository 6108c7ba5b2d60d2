// Real processes: how they are started, what they get, and how they end with their supervisor.
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, vi } from 'vitest';
import { runToEnd } from '../../supervisor/run-to-end.ts';
import { type Command, spawn } from '../../supervisor/spawn.ts';
import { isAlive, listProcesses } from '../harness/processes.ts';

const env = { PATH: '/usr/bin:/bin' };

/** A shell script; `{ ipc: … }` and the like come by `more`. */
function script(text: string, more: Partial<Command> = {}): Command {
  return { file: 'sh', args: ['-c', text], env, orphanSignal: 'KILL', ...more };
}

const gone = (pid: number) =>
  vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 1000, interval: 10 });

describe('a process', () => {
  it('gets the environment it is given and no other descriptor than standard ones', async () => {
    const { lines, code } = await runToEnd(script('env | grep -v ^PWD= | grep -v ^_=; ls /proc/self/fd'));
    expect(code).toBe(0);
    // 3 is the directory that ls itself has open; above 9 is what whoever started the test left open.
    expect(lines.filter((line) => !line.startsWith('PATH=') && Number(line) < 10)).toEqual([
      '0',
      '1',
      '2',
      '3',
    ]);
  });

  it('is leader of a group of its own', async () => {
    const { lines } = await runToEnd(script('ps -o pid=,pgid=,sid= -p $$'));
    const [pid, group, session] = lines.join('').trim().split(/\s+/);
    expect([group, session]).toEqual([pid, pid]);
  });

  it('gets its standard input to the end', async () => {
    const { lines } = await runToEnd(script('cat', { input: 'first\nsecond\n' }));
    expect(lines).toEqual(['first', 'second']);
  });

  it('leaves nothing of its group, nor its watcher, when it exits', async () => {
    const { lines } = await runToEnd(script('sleep 1000 >/dev/null 2>&1 & echo $!'));
    await gone(Number(lines[0]));
  });

  it('leaves no descriptor behind in the supervisor', async () => {
    const descriptors = async () => (await readdir('/proc/self/fd')).length;
    await runToEnd(script('true'));
    const before = await descriptors();
    for (let round = 0; round < 20; round++) await runToEnd(script('true'));
    await expect.poll(descriptors).toBeLessThanOrEqual(before + 1);
  });

  it('that cannot be found says so and has no success', async () => {
    const { code, lines } = await runToEnd({ ...script(''), file: '/nowhere/program' });
    expect(code).toBe(127);
    expect(lines.join()).toContain('/nowhere/program');
  });

  it('is killed when its run is aborted', async () => {
    const stop = new AbortController();
    const run = runToEnd(script('sleep 1000'), stop.signal);
    stop.abort();
    expect((await run).signal).toBe('SIGKILL');
  });

  it('speaks over its channel, which its lifeline does not hold open', async () => {
    const response = Promise.withResolvers<unknown>();
    const program =
      'process.on("message", (message) => process.send({ echo: message }, () => process.disconnect()))';
    const running = spawn({
      file: process.execPath,
      args: ['-e', program],
      env,
      ipc: { onMessage: response.resolve },
      orphanSignal: 'KILL',
    });
    running.send({ hello: 'you' });
    expect(await response.promise).toEqual({ echo: { hello: 'you' } });
    expect(await running.exited).toEqual({ code: 0, signal: null });
  });
});

describe('the socket of a process', () => {
  it('is its descriptor 3, and the only one besides the standard ones', async () => {
    const running = spawn({
      ...script('read -r line <&3; echo "$line" >&3; ls /proc/self/fd >&3'),
      socket: true,
    });
    const heard: string[] = [];
    running.socket?.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
    running.socket?.write('hello\n');
    await running.exited;
    // 4 is the directory that ls has open; above 9 is what whoever started the test left open.
    const numbers = () => heard.join('').split('\n').slice(1).filter((line) => line.length === 1);
    await expect.poll(numbers).toEqual(['0', '1', '2', '3', '4']);
  });

  it('ends for the other side when the process does, while its lifeline is still being cut', async () => {
    const running = spawn({ ...script('exit 0'), socket: true });
    const ended = new Promise((resolve) => running.socket?.on('close', resolve).resume());
    await running.exited;
    await ended;
  });

  it('can be passed on to another process, which then talks to the first alone', async () => {
    const response = Promise.withResolvers<unknown>();
    const program = `process.on('message', (message, socket) => {
      socket.on('data', (chunk) => process.send({ message, chunk: String(chunk) }, () => process.exit()));
      socket.write('ping\\n');
    })`;
    const reader = spawn({
      file: process.execPath,
      args: ['-e', program],
      env,
      ipc: { onMessage: response.resolve },
      orphanSignal: 'KILL',
    });
    const running = spawn({
      ...script('read -r line <&3; echo "$line pong" >&3; read -r line <&3'),
      socket: true,
    });
    reader.send({ type: 'yours' }, running.socket);
    expect(await response.promise).toEqual({ message: { type: 'yours' }, chunk: 'ping pong\n' });
    // The supervisor kept no copy: with the reader gone, its other end is at the end of its input.
    await Promise.all([reader.exited, running.exited]);
  });

  it('loses nothing that came while the other process was too busy to take it', async () => {
    const busy = Promise.withResolvers<unknown>();
    const response = Promise.withResolvers<unknown>();
    const program = `process.on('message', (message, socket) => {
      if (socket === undefined) {
        process.send('busy');
        for (const end = Date.now() + 300; Date.now() < end;);
        return;
      }
      let heard = '';
      socket.on('data', (chunk) => heard += chunk);
      socket.on('end', () => process.send({ heard }, () => process.exit()));
    })`;
    const reader = spawn({
      file: process.execPath,
      args: ['-e', program],
      env,
      ipc: { onMessage: (message) => message === 'busy' ? busy.resolve(message) : response.resolve(message) },
      orphanSignal: 'KILL',
    });
    reader.send({ type: 'be busy' });
    await busy.promise;
    const running = spawn({ ...script('echo early >&3'), socket: true });
    reader.send({ type: 'yours' }, running.socket);
    expect(await response.promise).toEqual({ heard: 'early\n' });
    await Promise.all([reader.exited, running.exited]);
  });

  it('is closed when it was to go to a process that cannot be reached any more', async () => {
    const gone = spawn({ ...script('exit 0'), ipc: { onMessage: () => {} } });
    await gone.closed;
    const running = spawn({ ...script('read -r line <&3'), socket: true });
    gone.send({}, running.socket);
    expect(await running.exited).toEqual({ code: 1, signal: null });
  });
});

describe('a killed supervisor', () => {
  it('takes everything that it started with it within a second, stubborn processes too', async () => {
    const program = fileURLToPath(new URL('lifeline-parent.ts', import.meta.url));
    const parent = execa(process.execPath, [program], { buffer: false, reject: false });
    const started: number[] = [];
    for await (const line of parent) {
      started.push(...line.split(' ').map(Number));
      if (started.length < 6) continue;
      const members = (await listProcesses()).filter(({ group }) => started.includes(group)).map(({ pid }) =>
        pid
      );
      // Three sleepers, three shells and the watcher of each.
      expect(members.length).toBeGreaterThanOrEqual(9);
      parent.kill('SIGKILL');
      await vi.waitFor(async () => {
        expect((await listProcesses()).filter(({ pid }) => members.includes(pid))).toEqual([]);
      }, { timeout: 1000, interval: 10 });
    }
    expect(started).toHaveLength(6);
  });
});
