// Which names a collection and its fields may have.

/** Letters, digits and underscores, at most 63: what PostgreSQL keeps of a name. */
const legalName = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** The rule above in words. */
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

/** Why a collection cannot have this id; undefined when it can. Differing in case only is too close. */
export function collectionNameFault(id: string): string | undefined {
  if (reservedCollections.has(id.toLowerCase())) return `"${id}" is a reserved name`;
  return legalName.test(id) ? undefined : legalNameHint;
}

/** Why a field cannot have this name; undefined when it can. */
export function fieldNameFault(name: string): string | undefined {
  if (!legalName.test(name)) return legalNameHint;
  if (reservedFields.has(name.toLowerCase())) return `"${name}" is a reserved name`;
  return systemColumns.has(name) ? `"${name}" is a name that PostgreSQL keeps for itself` : undefined;
}
