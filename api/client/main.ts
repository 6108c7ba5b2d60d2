// What `bulkhead/client` exports. It has no dependencies, and runs wherever there is `fetch`.
export {
  BulkheadError,
  BusyError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  type MemberError,
  NotFoundError,
  UnauthorizedError,
  ValidationError,
} from './errors.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { f, Filter, type FilterValue } from './filter.ts';
export type { AggregateFunction, ListOptions, Page, Records, Selection } from './records.ts';
export type { AppShape, LooseRecord, LooseTypes, RecordOf } from './types.ts';
export type { Auth } from './auth/auth.ts';
export type { AuthEvent, AuthListener, Challenge, Session, SignIn, User } from './auth/session.ts';
export type { TextStorage } from './auth/storage.ts';
export type { Live } from './realtime/live.ts';
export type { Change, Watching, WatchOptions } from './realtime/watch.ts';
export type { FileInfo, Files, UploadOptions } from './files.ts';
export type { RequestOptions } from './transport.ts';
