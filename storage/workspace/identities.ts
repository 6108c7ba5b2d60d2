// The workspace's end-users as apps see them: the built-in collection `users` of every app, and the fields that a
// profile in a collection of kind `auth` shows of its user.
import type { AppDefinition, CollectionDefinition, Field } from '../definition.ts';
import { kinds, selectCast } from '../app/fields/kinds.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { qualified, type TableName } from '../app/tables.ts';

/** Name of the built-in collection; no other can have it. */
export const usersId = 'users';

/** The view of users that apps may read, without hashes and secrets. */
export const usersView: TableName = { schema: 'workspace', collection: 'users_public' };

/** The fields that every collection of kind `auth` has besides the declared ones, as its definition lists them. */
export const impliedFields: readonly Field[] = [
  { name: 'email', kind: 'email', required: true, unique: true },
  { name: 'password_hash', kind: 'text' },
  { name: 'verified', kind: 'bool' },
  { name: 'last_login', kind: 'datetime' },
  { name: 'oauth_providers', kind: 'json' },
];

/** Those of them that records show, filters see and lists are sorted by. Elsewhere the others do not exist. */
export const shownFields: readonly Field[] = impliedFields.filter(({ name }) => name !== 'password_hash');

const shownNames: ReadonlySet<string> = new Set(shownFields.map(({ name }) => name));

/** True when records of an `auth` collection show a field of this name, which is their user's. */
export function isUserField(name: string): boolean {
  return shownNames.has(name);
}

const userFields: readonly Field[] = [
  { name: 'email', kind: 'email' },
  { name: 'verified', kind: 'bool' },
  { name: 'has_password', kind: 'bool' },
  { name: 'totp_enabled', kind: 'bool' },
  { name: 'oauth_providers', kind: 'json' },
  { name: 'last_login', kind: 'datetime' },
];

// One for each app, so that tenants share nothing that is cached for a collection.
const built = new WeakMap<AppDefinition, CollectionDefinition>();

/** The built-in collection of an app. Its rules are the defaults: admins only. */
export function usersCollection(app: AppDefinition): CollectionDefinition {
  let users = built.get(app);
  if (users === undefined) {
    const { created_at } = app;
    users = {
      id: usersId,
      kind: 'base',
      fields: userFields,
      indexes: [],
      version: 0,
      rules: {},
      created_at,
      updated_at: created_at,
    };
    built.set(app, users);
  }
  return users;
}

/** A collection whose records can be read: one of the app's own, or `users`. */
export function readableCollection(app: AppDefinition, id: string): CollectionDefinition | undefined {
  return app.collections.get(id) ?? (id === usersId ? usersCollection(app) : undefined);
}

const view = qualified(usersView);

/** The value of a field of the user whose id the row with this alias has, as responses show it. */
export function userExpression(name: string, alias: string): string {
  const kind = shownFields.find((field) => field.name === name)?.kind ?? 'text';
  return `(select u.${quoteIdentifier(name)}::${
    kinds[kind].column
  } from ${view} as u where u."id" = ${alias}."id")`;
}

/** All shown fields of that user in one column, for `readUserFields`: the user is read once for all of them. */
export function selectUserFields(alias: string): string {
  const values = shownFields.map(({ name, kind }) => selectCast(`u.${quoteIdentifier(name)}`, kind));
  return `(select json_build_array(${values.join(', ')}) from ${view} as u where u."id" = ${alias}."id")`;
}

/** Puts the column of `selectUserFields` into the fields of a record. */
export function readUserFields(column: unknown, fields: Record<string, unknown>): void {
  const values: unknown[] = Array.isArray(column) ? column : [];
  for (const [index, { name, kind }] of shownFields.entries()) {
    const value = values[index] ?? null;
    fields[name] = value === null ? null : kinds[kind].fromDatabase?.(value) ?? value;
  }
}
