// The private parts of Node's HTTP server that the API uses. docs/dependencies.md lists them.
import { type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The response that a connection is busy with: it is being written, or has not been sent completely. Undefined when there is
 * none. Responses to pipelined requests, which wait behind it, are not found.
 */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  const current: unknown = Reflect.get(socket, '_httpMessage');
  return current instanceof ServerResponse ? current : undefined;
}

/** Options that Node reads from the server when it uses them. */
type LateOptions = Pick<
  ServerOptions,
  'connectionsCheckingInterval' | 'maxHeaderSize' | 'requireHostHeader' | 'shouldUpgradeCallback'
>;

/** Sets options of a server that somebody else has made, although Node takes them when it makes one. */
export function setServerOptions(server: Server, options: LateOptions): void {
  Object.assign(server, options);
  // At this event Node begins to check connections, in the interval that is set by then.
  if (options.connectionsCheckingInterval !== undefined) server.emit('listening');
}

/** The path of a body between Node's parser and the request, which is a stream. */
export interface BodyPipe {
  /** Takes a chunk from the parser, null at the end. Returns false when the parser should pause. */
  push(chunk: Buffer | null, encoding?: BufferEncoding): boolean;
  /** Asks the parser for more. */
  read(size: number): void;
}

/** Wraps the path of a request's body; `wrap` gets Node's own. */
export function interceptBody(request: IncomingMessage, wrap: (inner: BodyPipe) => BodyPipe): void {
  const outer = wrap({ push: request.push.bind(request), read: request._read.bind(request) });
  request.push = outer.push;
  request._read = outer.read;
}
