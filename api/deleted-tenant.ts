// Requests whose app or workspace is deleted under them: the database then refuses what is left of their work, and hooks end.
import type { AppDefinition } from '../storage/definition.ts';
import { mayBeDropped } from '../storage/errors.ts';
import { ApiError } from './errors.ts';
import { type AnyTarget, type Definitions, failNoApp, failNoWorkspace } from './target.ts';

/**
 * What a request has failed with: where the database or the hooks do not do their work because the workspace or app of its
 * path has been deleted meanwhile, the `404` of that, else the error as it came.
 */
export async function explainFailure(
  definitions: Pick<Definitions, 'peekApp' | 'workspace' | 'exists'>,
  { workspace, app }: AnyTarget,
  error: unknown,
): Promise<unknown> {
  if (workspace === undefined) return error;
  if (!mayBeDropped(error) && !mayBeOfHooksEnd(definitions, app, error)) return error;
  try {
    // Another one may have the id by now.
    const { id, database } = workspace;
    if ((await definitions.workspace(id))?.database !== database) failNoWorkspace(id);
    if (app !== undefined && !await definitions.exists(app)) failNoApp(app.id);
  } catch (missing) {
    if (missing instanceof ApiError) return missing;
  }
  return error;
}

/** Whether work for an app of a workspace may have failed because that app has been deleted meanwhile. */
export async function isOfDeletedApp(
  definitions: Pick<Definitions, 'peekApp' | 'exists'>,
  app: AppDefinition,
  error: unknown,
): Promise<boolean> {
  return (mayBeDropped(error) || mayBeOfHooksEnd(definitions, app, error)) &&
    !await definitions.exists(app);
}

/** Hooks fail for many reasons, and often: the database is asked only where the app is not what it was to the request. */
function mayBeOfHooksEnd(
  definitions: Pick<Definitions, 'peekApp'>,
  app: AppDefinition | undefined,
  error: unknown,
): boolean {
  return error instanceof ApiError && error.code === 'hook_error' && app !== undefined &&
    definitions.peekApp(app.workspace.id, app.id) !== app;
}
