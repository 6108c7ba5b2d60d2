// The names under which writes are tracked: tables, all records of an app, the users of a workspace.
import type { AppDefinition } from '../../../storage/definition.ts';

/** The name of the users of a workspace: they own records, and take them along. */
export function usersName(database: string): string {
  return `${database}.users`;
}

/** The name of the table of a collection. */
export function tableName({ schema }: AppDefinition, collection: string): string {
  return `${schema}.${collection}`;
}

/** The name of all records of an app. */
export function allRecordsName({ schema }: AppDefinition): string {
  return schema;
}
