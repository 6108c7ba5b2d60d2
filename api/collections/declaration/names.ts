// Checks the names of collections and fields.

/** Names of collections and fields. PostgreSQL truncates names to 63 bytes. */
export const legalName = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** The reason for an illegal name. */
const legalNameHint = 'must be 1 to 63 letters, digits or underscores, beginning with a letter';

/** Names that belong to the server (docs/reference/collections.md). */
const reservedCollections = new Set([
  '_collections',
  '_access_rules',
  '_files',
  '_email_verifications',
  '_password_resets',
  '_email_otps',
  '_oauth_states',
  '_oauth_links',
  '_oauth_providers',
  'users',
  'master_admins',
  'workspace_admins',
  'audit_log',
  'policies',
]);

const reservedFields = new Set(['id', 'created_at', 'updated_at', 'collection', 'password']);

/** Columns that every PostgreSQL table has: https://www.postgresql.org/docs/18/ddl-system-columns.html */
const systemColumns = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']);

/** The reason why a collection cannot have this id; undefined when it can. Reserved names are reserved in any case. */
export function collectionNameFault(id: string): string | undefined {
  if (reservedCollections.has(id.toLowerCase())) return `"${id}" is a reserved name`;
  return legalName.test(id) ? undefined : legalNameHint;
}

/** The reason why a field cannot have this name; undefined when it can. */
export function fieldNameFault(name: string): string | undefined {
  if (!legalName.test(name)) return legalNameHint;
  if (reservedFields.has(name.toLowerCase())) return `"${name}" is a reserved name`;
  return systemColumns.has(name) ? `"${name}" is a name that PostgreSQL keeps for itself` : undefined;
}
