// What the supervisor starts to see that the walls stand: it says hello on the channel and waits for its end. It also
// touches what runners load of Deno only when a hook file needs it, so that the cache of compiled code comes to hold it.
import 'node:async_hooks';
import 'node:module';
import 'node:util';
import { openDescriptor } from './descriptor.ts';

const touched = [
  ...[Blob, File, FormData, Headers, Request, Response, URL, URLPattern, URLSearchParams],
  ...[TextDecoderStream, TextEncoderStream, ReadableStream, TransformStream, WritableStream],
  ...[CompressionStream, DecompressionStream, AbortController, CustomEvent, DOMException],
  ...[crypto.subtle, performance, structuredClone, atob],
];
const channel = openDescriptor(() => undefined, () => process.exit(0));
channel.write(new TextEncoder().encode(`hello ${touched.length}\n`));
