// `$app`: the object through which hook files use their own app.
import type { ApiClient, MakeCall } from './asking.ts';
import { decodeBytes, encodeBytes } from './bytes.ts';
import { readActingAs } from './call-arguments.ts';
import type {
  AggregateQuery,
  BatchRequest,
  CountQuery,
  CreateOptions,
  Fields,
  HookFileInfo,
  HookMail,
  Json,
  ListQuery,
  UserChanges,
} from './calls.ts';
import { type Format, formatValues } from './console.ts';
import type { LogWriter } from './log-lines.ts';
import type { LoadFrame, LogLevel } from './protocol.ts';

/** The content of a new file. */
type FileContent = string | Uint8Array | ArrayBuffer | Blob;

/** A stored file with its bytes. */
type FileWithBytes = HookFileInfo & { readonly bytes: Uint8Array; text(): string };

interface NewFile {
  readonly filename: string;
  readonly mime?: string;
  readonly content: FileContent;
}

/** The writer of log lines, and the formatter of what they show. */
interface AppLogging {
  readonly lines: LogWriter;
  readonly format: Format;
}

/** Creates the object that hook files know as `$app`. */
export function createAppObject(load: LoadFrame, asking: ApiClient, { lines, format }: AppLogging): object {
  const log = (level: LogLevel) => (message: unknown, fields?: unknown) =>
    lines.write({
      level,
      message: typeof message === 'string' ? message : formatValues([message], format),
      fields,
    });
  return freezeAll({
    id: load.app,
    workspace: load.workspace,
    env: { ...load.env },
    ...recordCalls(asking.call),
    as: (caller: unknown) => freezeAll(recordCalls(asking.actingAs(readActingAs(caller)))),
    users: {
      findOne: (id: string) => asking.call('users.findOne', id),
      findByEmail: (email: string) => asking.call('users.findByEmail', email),
      create: (user: { email: string; password?: string }) => asking.call('users.create', user),
      update: (id: string, changes: UserChanges) => asking.call('users.update', id, changes),
      delete: (id: string) => asking.call('users.delete', id),
    },
    files: fileCalls(asking),
    mail: { send: (mail: HookMail) => asking.call('mail.send', mail) },
    realtime: {
      publish: (collection: string, event: string, data: Json) =>
        asking.call('realtime.publish', collection, event, data),
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  });
}

/** The calls that act for the app, or for a caller. */
function recordCalls(call: MakeCall) {
  return {
    records: {
      findOne: (collection: string, id: string) => call('records.findOne', collection, id),
      list: (collection: string, query: ListQuery = {}) => call('records.list', collection, query),
      count: (collection: string, query: CountQuery = {}) => call('records.count', collection, query),
      aggregate: (collection: string, query: AggregateQuery) => call('records.aggregate', collection, query),
      create: (collection: string, fields: Fields, options: CreateOptions = {}) =>
        call('records.create', collection, fields, options),
      update: (collection: string, id: string, fields: Fields) =>
        call('records.update', collection, id, fields),
      delete: (collection: string, id: string) => call('records.delete', collection, id),
    },
    batch: (requests: readonly BatchRequest[]) => call('batch', requests),
  };
}

function fileCalls(asking: ApiClient) {
  return {
    get: async (id: string): Promise<FileWithBytes | null> => {
      const found = await asking.call('files.get', id);
      if (found === null) return null;
      const { body, ...file } = found;
      const bytes = decodeBytes(body);
      return { ...file, bytes, text: () => new TextDecoder().decode(bytes) };
    },
    create: async (
      { filename, mime = 'application/octet-stream', content }: NewFile,
    ): Promise<HookFileInfo> =>
      await asking.call('files.create', { filename, mime, body: encodeBytes(await contentBytes(content)) }),
    delete: (id: string) => asking.call('files.delete', id),
  };
}

async function contentBytes(content: FileContent): Promise<Uint8Array> {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (content instanceof Blob) return new Uint8Array(await content.arrayBuffer());
  throw new TypeError('the content of a file is a text, a Uint8Array, an ArrayBuffer or a Blob');
}

/** Freezes an object and its direct members, as a file that changed `$app` would change it for all files. */
function freezeAll<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) Object.freeze(member);
  return Object.freeze(value);
}
