// A stream of Server-Sent Events, read with `fetch`: `EventSource` can send no token.
import { makeError, readError } from '../errors.ts';
import type { ConnectionPorts, Watch } from './watch.ts';

/** Delivers the events of a collection to a watch until the stream ends. */
export async function readEvents(
  { transport, home, credentials }: ConnectionPorts,
  watch: Watch,
  { signal, onOpen }: { signal: AbortSignal; onOpen: () => void },
): Promise<void> {
  const { collection, filter, cursor } = watch;
  const used = await credentials.token();
  const response = await transport.fetch(
    'GET',
    `${home}/collections/${encodeURIComponent(collection)}/events`,
    {
      query: { filter: filter || undefined },
      headers: cursor === undefined ? undefined : { 'last-event-id': cursor },
      signal,
    },
  );
  if (!response.ok || response.body === null) {
    const error = await readError(response);
    if (error.status < 500 && error.status !== 429) watch.fail(error);
    throw error;
  }
  onOpen();
  let text = '';
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + bytes).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const { id = '', event, data } = fieldsOf(part);
      if (event === 'unauthorized') {
        if (used !== undefined) await credentials.renew(used);
        return;
      }
      if (event === undefined) {
        if (id !== '') watch.begin(id);
      } else if (event === 'reset') {
        watch.deliver({ event, cursor: id || watch.cursor || '' });
      } else {
        const value: unknown = JSON.parse(data ?? 'null');
        watch.deliver({ event, cursor: id, record: value, data: value });
      }
    }
  }
  throw makeError({ message: 'the stream has ended' });
}

function fieldsOf(part: string): { id?: string; event?: string; data?: string } {
  return Object.fromEntries(
    part.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
}
