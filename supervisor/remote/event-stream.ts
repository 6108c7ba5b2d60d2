// Reads Server-Sent Events.

/** An event of a stream. */
export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a response, until it ends. Comments are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
      const data = fields.filter(([, name]) => name === 'data').map(([, , value]) => value).join('\n');
      const event = fields.find(([, name]) => name === 'event')?.[2] ?? 'message';
      if (data !== '' || event !== 'message') yield { event, data };
    }
  }
}
