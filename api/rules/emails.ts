// Looks up the emails of callers, which tokens do not have.
import { findAdminEmail } from '../../storage/control/admins.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { findUserEmail } from '../../storage/workspace/user-email.ts';

/** Looks up emails. Undefined when the id is unknown, or is that of a master admin, who has no email. */
export interface EmailLookup {
  ofAdmin(id: string): Promise<string | undefined>;
  ofUser(app: AppDefinition, id: string): Promise<string | undefined>;
}

/** A lookup that queries the databases each time. */
export function emailLookup(databases: Pick<Databases, 'app' | 'control'>): EmailLookup {
  return {
    ofAdmin: (id) => databases.control.run((sql) => findAdminEmail(sql, id)),
    ofUser: ({ workspace, schema }, id) =>
      databases.app(workspace.database, schema).run((sql) => findUserEmail(sql, id)),
  };
}
