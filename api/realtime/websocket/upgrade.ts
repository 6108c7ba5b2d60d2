// Checks WebSocket upgrade requests: limits, token, scope, existence.
import { requireKeyScope } from '../../contract/key-scopes.ts';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AllowedOrigins } from '../../auth/sessions/allowed-origins.ts';
import { currentResponse } from '../../http/node-internals.ts';
import { type ApiError, errorBody, fail } from '../../errors.ts';
import type { HeaderList } from '../../http/header-list.ts';
import { isOwnOrigin } from '../../http/hosts/origins.ts';
import { writeLastResponse } from '../../http/last-response.ts';
import { decodeSegment } from '../../http/path-segment.ts';
import { queryParameters } from '../../http/query-parameters.ts';
import { decideScope, type Principal } from '../../scope.ts';
import type { StreamHolder } from '../ports.ts';
import type { AppPath } from '../topic.ts';

/** The ports to the rest of the server. */
export interface UpgradePorts {
  /** The checks of every request: rate limit, first-run setup. Throws `ApiError`. */
  admit: (request: IncomingMessage) => void | Promise<void>;
  /** Throws `404 not_found` at the origin of another app. */
  requireOwn: (request: IncomingMessage, place: AppPath) => void;
  /** The client's address as limits count it. */
  addressOf: (request: IncomingMessage) => string;
  /** The principal of an access token. Throws `401 unauthorized`. */
  authenticate: (token: string) => Principal | Promise<Principal>;
  /** The principal of an access token from a cookie. Throws `401 unauthorized`, with headers that clear the cookie. */
  authenticateCookie: (token: string, request: IncomingMessage) => Principal | Promise<Principal>;
  /** Throws `404` when the workspace or app does not exist. */
  requireApp: (place: AppPath) => void | Promise<void>;
  /** The most streams of a workspace in this process; undefined without a limit. */
  maxStreams: (workspace: string) => Promise<number | undefined>;
  /** The foreign origins whose pages may use the cookies of a workspace. */
  allowedOrigins: Pick<AllowedOrigins, 'rightsAt' | 'allowsCookieOf'>;
  /** The cookie that holds an access token, at the host of the request. */
  cookieName: (request: IncomingMessage) => string;
  /** Called once for each upgrade request with its response; 101 is an open WebSocket. */
  onResponse?: (request: IncomingMessage, response: { status: number; principal: Principal | null }) => void;
}

/** An accepted upgrade. */
export interface Admission {
  place: AppPath;
  holder: StreamHolder;
}

/** A request line may have an absolute URL (RFC 9112 section 3.2.2). */
const path = /^(?:https?:\/\/[^/?#]+)?\/api\/workspaces\/([^/?]+)\/apps\/([^/?]+)\/realtime\/?(?:\?|$)/;
const bearer = /^Bearer +([^\s]+) *$/i;
const key = /^[+/0-9A-Za-z]{22}==$/;

/**
 * True for an upgrade request at the path of realtime; any other is an ordinary request. So is one with a body, and one
 * behind a response that is not complete, since the two would be mixed on the connection. HTTP/1.0 has no upgrades (RFC
 * 9110 section 7.8): a proxy that speaks it has passed on a header that it did not understand.
 */
export function isForRealtime({ method, url, headers, socket, httpVersion }: IncomingMessage): boolean {
  const isUpgrade = httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
  const asks = isUpgrade && method === 'GET' && path.test(url ?? '');
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return asks && !hasBody && currentResponse(socket)?.writableEnded !== false;
}

/** Waits until responses are through that were complete before: a client may have all of one before that is known here. */
export async function responsesEnd(socket: Duplex): Promise<void> {
  for (let response = currentResponse(socket); response !== undefined; response = currentResponse(socket)) {
    if (!response.writableEnded) fail('validation', 'the connection is busy with another response');
    await once(response, 'close');
  }
}

/** Checks an upgrade in the order of every request: limits, token, scope, existence. Throws `ApiError`. */
export async function admitUpgrade(request: IncomingMessage, ports: UpgradePorts): Promise<Admission> {
  await ports.admit(request);
  const [, workspace = '', app = ''] = path.exec(request.url ?? '')?.map(decodeSegment) ?? [];
  ports.requireOwn(request, { workspace, app });
  const { headers } = request;
  if (headers['sec-websocket-version'] !== '13' || !key.test(headers['sec-websocket-key'] ?? '')) {
    fail(
      'validation',
      'Sec-WebSocket-Version, Sec-WebSocket-Key: this is not a WebSocket handshake of version 13',
    );
  }
  const principal = await identify(request, ports);
  const verdict = decideScope('anyone', principal, { workspace, app });
  if (verdict !== 'allow') fail('forbidden', 'this token does not allow that');
  requireKeyScope(principal, 'records:read', { workspace, app });
  await ports.requireApp({ workspace, app });
  // The filter comes with each subscription.
  const { filter: _filter, ...query } = queryParameters(
    URL.parse(request.url ?? '', 'http://realtime')?.search ?? '',
  );
  const max = await ports.maxStreams(workspace);
  const address = ports.addressOf(request);
  return {
    place: { workspace, app },
    holder: { principal, address, query, workspace: { id: workspace, max } },
  };
}

/** The principal of a request. Browsers send cookies from any page, so a cookie counts only from allowed origins. */
function identify(request: IncomingMessage, ports: UpgradePorts): Principal | null | Promise<Principal> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const token = bearer.exec(authorization)?.[1] ??
      fail('unauthorized', 'the Authorization header must be "Bearer <token>"');
    return ports.authenticate(token);
  }
  const cookie = readCookie(request.headers.cookie, ports.cookieName(request));
  if (cookie === undefined) return null;
  const { origin, host } = request.headers;
  if (origin !== undefined && isOwnOrigin(origin, host)) return ports.authenticateCookie(cookie, request);
  return identifyForeign(origin ?? failForeign(), () => ports.authenticateCookie(cookie, request), ports);
}

/** The principal of a cookie that a page of a foreign origin sends: it counts for the workspaces of that origin. */
async function identifyForeign(
  origin: string,
  authenticate: () => Principal | Promise<Principal>,
  { allowedOrigins }: UpgradePorts,
): Promise<Principal> {
  // The response to a page of no workspace says nothing of the cookie, and takes none away.
  if (allowedOrigins.rightsAt(origin, undefined) !== 'cookies') failForeign();
  const principal = await authenticate();
  return allowedOrigins.allowsCookieOf(principal.workspace, origin) ? principal : failForeign();
}

function failForeign(): never {
  fail(
    'forbidden',
    "a WebSocket with a cookie needs an Origin of its own host or of the token's workspace (PUT …/origins)",
  );
}

function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

/** Responds to a refused upgrade, and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  error: ApiError,
  headers: HeaderList,
): void {
  writeLastResponse(socket, {
    status: error.status,
    headers: [...headers, ...error.headers],
    body: JSON.stringify(errorBody(error)),
  });
}
