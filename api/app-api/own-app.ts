// Finds the app of hook code, as it is at the time of a call.
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

/** Finds the app, whose collections may change while a runner lives. Throws `404 app_not_found` when it is deleted. */
export async function findOwnApp(
  { definitions }: Pick<Deps, 'definitions'>,
  { id, schema, workspace }: AppIdentity,
): Promise<AppDefinition> {
  const app = definitions.peekApp(workspace.id, id) ?? await definitions.app(workspace.id, id);
  // Another process may have replaced the app by one of the same id, before this process was notified.
  return app?.schema === schema ? app : fail('app_not_found', 'the app is gone');
}
