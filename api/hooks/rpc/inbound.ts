// Checks the messages of a runner member by member: nothing counts before it has the shape that the protocol gives it.
import type * as frames from '../../../hook-runner/protocol.ts';
import type { CallTable } from '../../../hook-runner/calls.ts';
import { ProtocolError } from './frames.ts';
import { readRegistrations } from './inbound-registrations.ts';
import {
  readActingAs,
  readBatchRequest,
  readBoolean,
  readBytes,
  readFault,
  readHeaders,
  readId,
  readInteger,
  readJson,
  readList,
  readListQuery,
  readMembers,
  readRecordFields,
  readRefusedField,
  readText,
  readTexts,
  readUserChanges,
  readWord,
} from './inbound-values.ts';

type Members = Record<string, unknown>;

const readers: { [Type in frames.FromRunner['type']]: (given: Members) => frames.FromRunner } = {
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
export function readMessage(given: Members): frames.FromRunner {
  const { type } = given;
  if (typeof type !== 'string' || !isType(type)) throw new ProtocolError('a message of an unknown type');
  return readers[type](given);
}

function isType(type: string): type is frames.FromRunner['type'] {
  return Object.hasOwn(readers, type);
}

function readReady({ protocol }: Members): frames.ReadyFrame {
  if (protocol !== 1) throw new ProtocolError('a runner of another protocol');
  return { type: 'ready', protocol };
}

function readLoading({ id, files }: Members): frames.LoadingFrame {
  return { type: 'loading', id: readId(id), files: readList(files, readText) };
}

function readLoaded({ id, files, errors }: Members): frames.LoadedFrame {
  return {
    type: 'loaded',
    id: readId(id),
    files: readList(files, readRegistrations),
    errors: readList(errors, readFault),
  };
}

function readResult(
  { id: given, outcome, changes, message, fault, field, faults, status, code }: Members,
): frames.InvocationResult {
  const id = readId(given);
  switch (outcome) {
    case 'done':
      return { type: 'result', id, outcome, changes: readRecordFields(changes) };
    case 'veto':
      return {
        type: 'result',
        id,
        outcome,
        message: readText(message),
        fault: fault === null ? null : readFault(fault),
        field: field === undefined ? undefined : readRefusedField(field),
      };
    case 'failed':
      return { type: 'result', id, outcome, faults: readList(faults, readFault) };
    case 'http_error':
      return {
        type: 'result',
        id,
        outcome,
        status: readInteger(status, 400, 599),
        code: readText(code),
        message: readText(message),
      };
    default:
      throw new ProtocolError('a result of an unknown outcome');
  }
}

function readResponse({ id, status, headers, body, end }: Members): frames.ResponseFrame {
  return {
    type: 'response',
    id: readId(id),
    status: readInteger(status, 200, 599),
    headers: readHeaders(headers),
    body: body === null ? null : readBytes(body),
    end: readBoolean(end),
  };
}

function readChunk({ id, body }: Members): frames.ChunkFrame {
  return { type: 'chunk', id: readId(id), body: readBytes(body) };
}

function readEnd({ id }: Members): frames.EndFrame {
  return { type: 'end', id: readId(id) };
}

function readPong({ id }: Members): frames.PongFrame {
  return { type: 'pong', id: readId(id) };
}

const levels = ['debug', 'info', 'warn', 'error'] as const;

function readLog({ parent, level, message, file, fields }: Members): frames.LogFrame {
  return {
    type: 'log',
    parent: readInteger(parent, 0, 0xffff_ffff),
    level: readWord(level, levels),
    message: readText(message),
    file: file === null ? null : readText(file),
    fields: fields === null ? null : readRecordFields(fields),
  };
}

type Arguments = { [Method in keyof CallTable]: (args: readonly unknown[]) => CallTable[Method]['args'] };

const argumentReaders: Arguments = {
  'records.findOne': ([coll, id]) => [readText(coll), readText(id)],
  'records.list': ([coll, query]) => [readText(coll), readListQuery(query)],
  'records.count': ([coll, query]) => [readText(coll), readTexts(query, ['filter'])],
  'records.aggregate': ([coll, query]) => [readText(coll), {
    fn: readText(readMembers(query)['fn']),
    ...readTexts(query, ['group', 'filter']),
  }],
  'records.create': ([coll, fields, options = {}]) => [
    readText(coll),
    readRecordFields(fields),
    readTexts(options, ['on_conflict']),
  ],
  'records.update': ([coll, id, fields]) => [readText(coll), readText(id), readRecordFields(fields)],
  'records.delete': ([coll, id]) => [readText(coll), readText(id)],
  'batch': ([requests]) => [readList(requests, readBatchRequest)],
  'users.findOne': ([id]) => [readText(id)],
  'users.findByEmail': ([email]) => [readText(email)],
  'users.create': (
    [user],
  ) => [{ email: readText(readMembers(user)['email']), ...readTexts(user, ['password']) }],
  'users.update': ([id, changes]) => [readText(id), readUserChanges(changes)],
  'users.delete': ([id]) => [readText(id)],
  'files.get': ([id]) => [readText(id)],
  'files.create': ([given]) => {
    const { filename, mime, body } = readMembers(given);
    return [{ filename: readText(filename), mime: readText(mime), body: readBytes(body) }];
  },
  'files.delete': ([id]) => [readText(id)],
  'mail.send': ([given]) => {
    const { to, subject, text } = readMembers(given);
    const mail = { to: readText(to), subject: readText(subject), text: readText(text) };
    return [{ ...mail, ...readTexts(given, ['html']) }];
  },
  'realtime.publish': ([coll, event, data]) => [readText(coll), readText(event), readJson(data)],
  'fetch': ([given]) => {
    const { url, method, headers, body, redirect } = readMembers(given);
    return [{
      url: readText(url),
      method: readText(method),
      headers: readHeaders(headers),
      body: body === null ? null : readBytes(body),
      redirect: readWord(redirect, ['follow', 'manual', 'error']),
    }];
  },
};

function readCall({ id, parent, method, args, as }: Members): frames.CallFrame {
  if (typeof method !== 'string' || !isMethod(method)) throw new ProtocolError('a call of an unknown method');
  const call = {
    ...{ type: 'call', id: readId(id), parent: readId(parent), method },
    args: argumentReaders[method](readList(args, (value) => value)),
  };
  // Method and arguments come from the same row of the table, which the compiler cannot follow through a union.
  return (as === undefined ? call : { ...call, as: readActingAs(as) }) as frames.CallFrame;
}

function isMethod(method: string): method is keyof CallTable {
  return Object.hasOwn(argumentReaders, method);
}
