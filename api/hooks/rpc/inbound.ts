// What a runner sends, member by member: nothing it says is believed before it has the shape that the protocol gives it.
import { hookEventNames } from '../../../hook-runner/events.ts';
import type {
  CallFrame,
  ChunkFrame,
  EndFrame,
  FromRunner,
  InvocationResult,
  LoadedFrame,
  LoadingFrame,
  LogFrame,
  PongFrame,
  ReadyFrame,
  ResponseFrame,
} from '../../../hook-runner/protocol.ts';
import type {
  FileRegistrations,
  RouteRegistration,
  RouteSegment,
} from '../../../hook-runner/registrations.ts';
import type { CallTable } from '../../../hook-runner/calls.ts';
import { ProtocolError } from './frames.ts';
import {
  bytesOf,
  faultOf,
  fieldsOf,
  headersOf,
  idOf,
  jsonOf,
  listOf,
  membersOf,
  numberOf,
  shortOf,
  textOf,
  truthOf,
  wholeOf,
  wordOf,
} from './inbound-values.ts';

type Members = Record<string, unknown>;

const readers: { [Type in FromRunner['type']]: (given: Members) => FromRunner } = {
  ready: readReady,
  loading: readLoading,
  loaded: readLoaded,
  result: readResult,
  response: readResponse,
  chunk: readChunk,
  end: readEnd,
  call: readCall,
  log: readLog,
  pong: readPong,
};

/** The message that a frame holds. Throws `ProtocolError`. */
export function readMessage(given: Members): FromRunner {
  const { type } = given;
  if (typeof type !== 'string' || !isType(type)) throw new ProtocolError('a message of an unknown type');
  return readers[type](given);
}

function isType(type: string): type is FromRunner['type'] {
  return Object.hasOwn(readers, type);
}

function readReady({ protocol }: Members): ReadyFrame {
  if (protocol !== 1) throw new ProtocolError('a runner of another protocol');
  return { type: 'ready', protocol };
}

function readLoading({ id, files }: Members): LoadingFrame {
  return { type: 'loading', id: idOf(id), files: listOf(files, textOf) };
}

function readLoaded({ id, files, errors }: Members): LoadedFrame {
  return { type: 'loaded', id: idOf(id), files: listOf(files, fileOf), errors: listOf(errors, faultOf) };
}

/** Characters of what is registered: all of it is looked through, or worked on, in this process. */
const longest = { text: 512, name: 128, expression: 256 };
/** A path of 512 characters has no more. */
const mostSegments = 256;

function fileOf(given: unknown): FileRegistrations {
  const { file, hooks, routes, jobs } = membersOf(given);
  return {
    file: textOf(file),
    hooks: listOf(hooks, (hook) => {
      const { event, collection } = membersOf(hook);
      return { event: wordOf(event, hookEventNames), collection: shortOf(collection, longest.text) };
    }),
    routes: listOf(routes, routeOf),
    jobs: listOf(jobs, (job) => {
      const { name, expression } = membersOf(job);
      return { name: shortOf(name, longest.name), expression: shortOf(expression, longest.expression) };
    }),
  };
}

function routeOf(given: unknown): RouteRegistration {
  const { method, path, segments: parts } = membersOf(given);
  const segments = listOf(parts, segmentOf);
  if (segments.length > mostSegments) throw new ProtocolError(`a route of ${segments.length} segments`);
  return { method: shortOf(method, longest.text), path: shortOf(path, longest.text), segments };
}

function segmentOf(given: unknown): RouteSegment {
  const { kind, value, name } = membersOf(given);
  if (kind === 'literal') return { kind, value: shortOf(value, longest.text) };
  if (kind === 'param') return { kind, name: shortOf(name, longest.text) };
  return { kind: wordOf(kind, ['rest']) };
}

function readResult(
  { id: given, outcome, changes, message, fault, faults, status, code }: Members,
): InvocationResult {
  const id = idOf(given);
  switch (outcome) {
    case 'done':
      return { type: 'result', id, outcome, changes: fieldsOf(changes) };
    case 'veto':
      return {
        type: 'result',
        id,
        outcome,
        message: textOf(message),
        fault: fault === null ? null : faultOf(fault),
      };
    case 'failed':
      return { type: 'result', id, outcome, faults: listOf(faults, faultOf) };
    case 'http_error':
      return {
        type: 'result',
        id,
        outcome,
        status: wholeOf(status, 400, 599),
        code: textOf(code),
        message: textOf(message),
      };
    default:
      throw new ProtocolError('a result of an unknown outcome');
  }
}

function readResponse({ id, status, headers, body, end }: Members): ResponseFrame {
  return {
    type: 'response',
    id: idOf(id),
    status: wholeOf(status, 200, 599),
    headers: headersOf(headers),
    body: body === null ? null : bytesOf(body),
    end: truthOf(end),
  };
}

function readChunk({ id, body }: Members): ChunkFrame {
  return { type: 'chunk', id: idOf(id), body: bytesOf(body) };
}

function readEnd({ id }: Members): EndFrame {
  return { type: 'end', id: idOf(id) };
}

function readPong({ id }: Members): PongFrame {
  return { type: 'pong', id: idOf(id) };
}

const levels = ['debug', 'info', 'warn', 'error'] as const;

function readLog({ parent, level, message, file, fields }: Members): LogFrame {
  return {
    type: 'log',
    parent: wholeOf(parent, 0, 0xffff_ffff),
    level: wordOf(level, levels),
    message: textOf(message),
    file: file === null ? null : textOf(file),
    fields: fields === null ? null : fieldsOf(fields),
  };
}

type Arguments = { [Method in keyof CallTable]: (args: readonly unknown[]) => CallTable[Method]['args'] };

const argumentsOf: Arguments = {
  'records.findOne': ([coll, id]) => [textOf(coll), textOf(id)],
  'records.list': ([coll, query]) => [textOf(coll), queryOf(query)],
  'records.create': ([coll, fields]) => [textOf(coll), fieldsOf(fields)],
  'records.update': ([coll, id, fields]) => [textOf(coll), textOf(id), fieldsOf(fields)],
  'records.delete': ([coll, id]) => [textOf(coll), textOf(id)],
  'users.findOne': ([id]) => [textOf(id)],
  'files.get': ([id]) => [textOf(id)],
  'files.create': ([given]) => {
    const { filename, mime, body } = membersOf(given);
    return [{ filename: textOf(filename), mime: textOf(mime), body: bytesOf(body) }];
  },
  'files.delete': ([id]) => [textOf(id)],
  'mail.send': ([given]) => {
    const { to, subject, text, html } = membersOf(given);
    const mail = { to: textOf(to), subject: textOf(subject), text: textOf(text) };
    return [html === undefined ? mail : { ...mail, html: textOf(html) }];
  },
  'realtime.publish': ([coll, event, data]) => [textOf(coll), textOf(event), jsonOf(data)],
  'fetch': ([given]) => {
    const { url, method, headers, body, redirect } = membersOf(given);
    return [{
      url: textOf(url),
      method: textOf(method),
      headers: headersOf(headers),
      body: body === null ? null : bytesOf(body),
      redirect: wordOf(redirect, ['follow', 'manual', 'error']),
    }];
  },
};

function readCall({ id, parent, method, args }: Members): CallFrame {
  if (typeof method !== 'string' || !isMethod(method)) throw new ProtocolError('a call of an unknown method');
  return callOf(method, { id: idOf(id), parent: idOf(parent), args: listOf(args, (value) => value) });
}

function callOf(
  method: keyof CallTable,
  { id, parent, args }: { id: number; parent: number; args: readonly unknown[] },
): CallFrame {
  // Method and arguments come from the same row of the table, which the compiler cannot follow through a union.
  return { type: 'call', id, parent, method, args: argumentsOf[method](args) } as CallFrame;
}

function isMethod(method: string): method is keyof CallTable {
  return Object.hasOwn(argumentsOf, method);
}

function queryOf(given: unknown): CallTable['records.list']['args'][1] {
  const { filter, sort, page, per_page } = membersOf(given);
  return {
    ...(filter === undefined ? {} : { filter: textOf(filter) }),
    ...(sort === undefined ? {} : { sort: textOf(sort) }),
    ...(page === undefined ? {} : { page: numberOf(page) }),
    ...(per_page === undefined ? {} : { per_page: numberOf(per_page) }),
  };
}
