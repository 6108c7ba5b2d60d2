// The app whose hooks ask for something, as it is by then.
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

/** Looks it up, as collections change while a runner lives. Throws `404 app_not_found` when it is gone. */
export async function findOwnApp(
  { definitions }: Pick<Deps, 'definitions'>,
  { id, schema, workspace }: AppIdentity,
): Promise<AppDefinition> {
  const app = definitions.peekApp(workspace.id, id) ?? await definitions.app(workspace.id, id);
  // Another process may have made a new app of that id, before this one has heard that the old one is gone.
  return app?.schema === schema ? app : fail('app_not_found', 'the app is gone');
}
