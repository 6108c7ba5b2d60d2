// The options of the connections of an API process.
import type { Endpoint } from './pool.ts';

/** How to reach PostgreSQL as the provisioner, and how to derive the passwords of tenant roles. */
export interface DatabasesOptions {
  /** The provisioner's endpoint. Its `database` is the control database. */
  provisioner: Endpoint;
  /** The password of a tenant role, derived from the role's opaque name. */
  passwordOf: (role: string) => string;
  workspacePoolCap: number;
  appPoolCap: number;
  /** Connections that all tenant pools together may hold. */
  tenantConnections: number;
  /** Called with the database of a workspace whose statements have to wait, since slow ones have its share. */
  onSlow?: (database: string) => void;
  now: () => number;
}
