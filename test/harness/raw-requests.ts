// Requests that no HTTP client would send: bytes into a socket, and what comes back until it is closed.
import { connect } from 'node:net';

/** What a connection gave until the other side closed it. */
export interface RawResponse {
  /** Of the first response; 0 when there was none. */
  status: number;
  headers: Headers;
  body: string;
  /** Everything, when there was more than one response. */
  text: string;
  /** Milliseconds until the connection was closed. */
  milliseconds: number;
}

/** Sends bytes, and waits until the server closes the connection (or, with `until`, until that text has come). */
export function sendRaw(url: string, bytes: string | Buffer, until?: string): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    const finish = () => {
      socket.destroy();
      resolve({ ...parse(text), text, milliseconds: performance.now() - started });
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (until !== undefined && text.includes(until)) finish();
    });
    socket.on('close', finish);
    // A server may close while we still write: what it said counts.
    socket.on('error', (error) => text === '' ? reject(error) : finish());
  });
}

function parse(text: string): Pick<RawResponse, 'status' | 'headers' | 'body'> {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = (end === -1 ? text : text.slice(0, end)).split('\r\n');
  const headers = new Headers(
    lines.filter((line) => line.includes(':')).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: end === -1 ? '' : text.slice(end + 4) };
}
