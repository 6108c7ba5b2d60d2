// Files as they are answered.
import type { AppDefinition } from '../../storage/definition.ts';
import { type FileRow, listFiles } from '../../storage/app/files.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import type { Deps } from '../deps.ts';
import { integer, object, text, timestamp, type ValueOf } from '../contract/schema.ts';
import type { Principal } from '../scope.ts';
import { listedUploader } from './access.ts';

/** What is shown of a file. */
export const fileResponse = object({
  id: text({ format: 'uuid' }),
  filename: text(),
  mime: text(),
  size: integer({ min: 0 }),
  created_at: timestamp(),
});

/** A file as `fileAnswer` describes it. */
export type FileResponse = ValueOf<typeof fileResponse>;

/** The members that are shown. */
export function showFile({ id, filename, mime, size, created_at }: FileRow): FileResponse {
  return { id, filename, mime, size, created_at };
}

/** An app's files, newest first: all to its admins, to an end-user its own. */
export async function showFiles(
  { databases }: Pick<Deps, 'databases'>,
  app: AppDefinition,
  { principal, page }: { principal: Principal; page: PageRequest },
): Promise<Page<FileResponse>> {
  const { workspace: { database }, schema } = app;
  const uploadedBy = listedUploader(app, principal);
  const files = await databases.app(database, schema).run((sql) =>
    listFiles(sql, schema, { uploadedBy, page })
  );
  return { ...files, items: files.items.map(showFile) };
}
