// Requests whose app or workspace is deleted under them: the database then refuses what is left of their work.
import { mayBeOfDropped } from '../storage/errors.ts';
import { ApiError } from './errors.ts';
import { type AnyTarget, type Definitions, failNoApp, failNoWorkspace } from './target.ts';

/**
 * What a request has failed with: where the database does not do its work because the workspace or app of its path has
 * been deleted meanwhile, the `404` of that, else the error as it came.
 */
export async function explainFailure(
  definitions: Pick<Definitions, 'workspace' | 'isThere'>,
  { workspace, app }: AnyTarget,
  error: unknown,
): Promise<unknown> {
  if (workspace === undefined || !mayBeOfDropped(error)) return error;
  try {
    // Another one may have the id by now.
    const { id, database } = workspace;
    if ((await definitions.workspace(id))?.database !== database) failNoWorkspace(id);
    if (app !== undefined && !await definitions.isThere(app)) failNoApp(app.id);
  } catch (missing) {
    if (missing instanceof ApiError) return missing;
  }
  return error;
}
