// Requests that say how much of their body was sent: by `XMLHttpRequest` where there is one, because `fetch` of browsers cannot.

/** The part of `XMLHttpRequest` that is used here. */
interface Request {
  upload: { onprogress: (event: { loaded: number; total: number }) => void };
  responseType: string;
  response: Blob;
  status: number;
  withCredentials: boolean;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
  onload: () => void;
  onerror: () => void;
}

type OnProgress = (sent: number, total: number) => void;

/** A `fetch` for bodies that are blobs. */
export function withProgress(onProgress: OnProgress): typeof fetch {
  // Of the type that it has in browsers, of which only a part is used.
  const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest?: new () => Request };
  return (url, init = {}) =>
    XMLHttpRequest === undefined
      ? counted(String(url), init, onProgress)
      : sendRequest(new XMLHttpRequest(), { url: String(url), init, onProgress });
}

function sendRequest(
  request: Request,
  { url, init, onProgress }: { url: string; init: RequestInit; onProgress: OnProgress },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal, method = 'GET', credentials } = init;
    request.open(method, url);
    request.responseType = 'blob';
    request.withCredentials = credentials === 'include';
    new Headers(init.headers).forEach((value, name) => request.setRequestHeader(name, value));
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
    request.onload = () => {
      const lines = request.getAllResponseHeaders().trim().split('\r\n').map((line) => line.split(/: (.*)/s));
      const headers = lines.map(([name = '', value = '']): [string, string] => [name, value]);
      resolve(new Response(request.response, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError('the upload failed'));
    signal?.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.send(init.body);
  });
}

/** Some runtimes have a whole blob as one chunk. */
const stepBytes = 65_536;

/** Sends the body as a stream, and counts what is taken from it. */
function counted(url: string, init: RequestInit, onProgress: OnProgress): Promise<Response> {
  const { body } = init;
  if (!(body instanceof Blob)) return fetch(url, init);
  let sent = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => {
      for (let from = 0; from < chunk.length; from += stepBytes) {
        const part = chunk.subarray(from, from + stepBytes);
        out.enqueue(part);
        onProgress(sent += part.length, body.size);
      }
    },
  });
  const streamed = { ...init, body: body.stream().pipeThrough(counting), duplex: 'half' };
  return fetch(url, streamed as RequestInit);
}
