// The places of API keys, and where their audit entries belong.
import type { KeyPlace } from '../../../storage/control/api-keys.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../../storage/definition.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import { fail } from '../../errors.ts';

/** The level that keys are made at: the server, a workspace or an app of one. */
export interface KeyTarget {
  workspace?: WorkspaceDefinition;
  app?: AppDefinition;
}

/** The columns of the place. */
export function keyPlace({ workspace, app }: KeyTarget): KeyPlace {
  return { workspace: workspace?.id ?? null, app: app?.id ?? null };
}

/** Throws `404 not_found` for what cannot be the id of a key. */
export function requireKeyId(id: string): string {
  return isUuid(id) ? id : failNoKey(id);
}

/** Throws `404 not_found`. */
export function failNoKey(id: string): never {
  fail('not_found', `API key "${id.slice(0, 100)}" does not exist`);
}
