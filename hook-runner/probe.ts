// The program that the supervisor starts to verify the sandbox: it writes to the channel and waits for the channel's end. It
// also loads the parts of Deno that runners load on demand, so that the cache of compiled code includes them.
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
