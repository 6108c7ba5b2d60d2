// A CPU profile of the API process while it works, by way of Node's inspector, which SIGUSR1 opens on the loopback
// (https://nodejs.org/api/process.html#signal-events). Nothing of the server has to know.
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const inspector = 'http://127.0.0.1:9229/json/list';
const patience = 100;

/** Profiles a process while the work runs; the file opens in any browser's developer tools. */
export async function profile<Result>(
  pid: number,
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await debuggerUrl());
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  try {
    await command(socket, 1, 'Profiler.enable');
    await command(socket, 2, 'Profiler.start');
    const result = await work();
    const response = await command(socket, 3, 'Profiler.stop');
    await writeFile(file, JSON.stringify(response['profile']));
    return result;
  } finally {
    socket.close();
  }
}

/** The inspector opens some time after the signal, without a word to us. */
async function debuggerUrl(): Promise<string> {
  for (let attempt = 0; attempt < patience; attempt++) {
    const response = await fetch(inspector).catch(() => undefined);
    const targets: unknown = await response?.json();
    if (Array.isArray(targets)) return String(targets[0]?.webSocketDebuggerUrl);
    await pause(20);
  }
  throw new Error('the inspector of the API did not open');
}

function command(socket: WebSocket, id: number, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const onMessage = (event: MessageEvent) => {
      const message: { id?: number; result?: Record<string, unknown> } = JSON.parse(String(event.data));
      if (message.id !== id) return;
      socket.removeEventListener('message', onMessage);
      resolve(message.result ?? {});
    };
    socket.addEventListener('message', onMessage);
    socket.send(JSON.stringify({ id, method }));
  });
}
