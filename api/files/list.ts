// Files in responses.
import type { AppDefinition } from '../../storage/definition.ts';
import { type FileRow, selectFiles } from '../../storage/app/files.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import type { Deps } from '../deps.ts';
import { integer, object, string, timestamp, type ValueOf } from '../contract/schema.ts';
import type { Principal } from '../scope.ts';
import { listedUploader } from './access.ts';

/** The schema of a file. */
export const fileResponse = object({
  id: string({ format: 'uuid' }),
  filename: string(),
  mime: string(),
  size: integer({ min: 0 }),
  created_at: timestamp(),
});

/** A file in a response. */
export type FileResponse = ValueOf<typeof fileResponse>;

/** The response for a file. */
export function showFile({ id, filename, mime, size, created_at }: FileRow): FileResponse {
  return { id, filename, mime, size, created_at };
}

/** A page of an app's files, newest first: all for admins, its own for an end-user. */
export async function showFiles(
  { databases }: Pick<Deps, 'databases'>,
  app: AppDefinition,
  { principal, page }: { principal: Principal; page: PageRequest },
): Promise<Page<FileResponse>> {
  const { workspace: { database }, schema } = app;
  const uploadedBy = listedUploader(app, principal);
  const files = await databases.app(database, schema).run((sql) =>
    selectFiles(sql, schema, { uploadedBy, page })
  );
  return { ...files, items: files.items.map(showFile) };
}
