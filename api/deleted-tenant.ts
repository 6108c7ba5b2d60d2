// Explains the failures of requests whose app or workspace was deleted meanwhile: statements fail then, and hooks end.
import type { AppDefinition } from '../storage/definition.ts';
import { mayBeDropped } from '../storage/errors.ts';
import { ApiError } from './errors.ts';
import { type AnyTarget, type Definitions, failNoApp, failNoWorkspace } from './target.ts';

/**
 * Translates the error of a request to a `404` when the workspace or app of its path has been deleted meanwhile. Returns any
 * other error as it is.
 */
export async function explainFailure(
  definitions: Pick<Definitions, 'peekApp' | 'workspace' | 'exists'>,
  { workspace, app }: AnyTarget,
  error: unknown,
): Promise<unknown> {
  if (workspace === undefined) return error;
  if (!mayBeDropped(error) && !mayBeOfHooksEnd(definitions, app, error)) return error;
  try {
    // Another workspace may have the id by now.
    const { id, database } = workspace;
    if ((await definitions.workspace(id))?.database !== database) failNoWorkspace(id);
    if (app !== undefined && !await definitions.exists(app)) failNoApp(app.id);
  } catch (missing) {
    if (missing instanceof ApiError) return missing;
  }
  return error;
}

/** Resolves with true when work for an app may have failed because the app has been deleted meanwhile. */
export async function isOfDeletedApp(
  definitions: Pick<Definitions, 'peekApp' | 'exists'>,
  app: AppDefinition,
  error: unknown,
): Promise<boolean> {
  return (mayBeDropped(error) || mayBeOfHooksEnd(definitions, app, error)) &&
    !await definitions.exists(app);
}

/** Hooks fail for many reasons. The database is asked only when the app's definition has changed since the request began. */
function mayBeOfHooksEnd(
  definitions: Pick<Definitions, 'peekApp'>,
  app: AppDefinition | undefined,
  error: unknown,
): boolean {
  return error instanceof ApiError && error.code === 'hook_error' && app !== undefined &&
    definitions.peekApp(app.workspace.id, app.id) !== app;
}
