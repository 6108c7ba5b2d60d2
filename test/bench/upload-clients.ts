// Uploads over raw keep-alive connections, in a process of its own: a client library would take as much of two cores as
// the server.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { carryOut } from './load-process.ts';

/** What is uploaded where. */
export interface UploadPlan {
  port: number;
  /** The head of each request, as it goes over the wire but for its length. */
  head: string;
  bytes: number;
  /** As many as this at least, and until so many seconds are over. */
  uploads: number;
  seconds: number;
  parallel: number;
}

/** What came of it. */
export interface UploadResult {
  uploads: number;
  seconds: number;
}

const headEnd = '\r\n\r\n';

async function run({ port, head, bytes, uploads, seconds, parallel }: UploadPlan): Promise<UploadResult> {
  const request = Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes}\r\n\r\n`), randomBytes(bytes)]);
  const began = performance.now();
  let begun = 0;
  const lane = async () => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    while (begun < uploads || performance.now() - began < seconds * 1_000) {
      begun++;
      socket.write(request);
      await answered(socket);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return { uploads: begun, seconds: (performance.now() - began) / 1_000 };
}

/** Throws on any status but 201. */
async function answered(socket: Socket): Promise<void> {
  let text = '';
  for (;;) {
    const [chunk] = await once(socket, 'data');
    text += String(chunk);
    const end = text.indexOf(headEnd);
    if (end === -1) continue;
    if (!text.startsWith('HTTP/1.1 201 ')) throw new Error(text.slice(0, 1_000));
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
    if (text.length >= end + headEnd.length + length) return;
  }
}

carryOut(run);
