// The TypeScript module of an app, for programs that call it: its records, their relations, its custom routes.
import { kindOf } from '../../storage/app/fields/kinds.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { RouteRegistration } from '../../hook-runner/registrations.ts';
import { inputFields, recordFields, takesWrites } from '../collections/record-members.ts';
import { allErrorCodes } from '../contract/route-errors.ts';
import { readableCollections, relationsOf } from './relations.ts';
import { declareRoutes } from './route-types.ts';
import { typeNames } from './type-names.ts';

/** The module. Equal definitions give equal text. */
export function declareClientTypes(app: AppDefinition, routes: readonly RouteRegistration[]): string {
  const collections = readableCollections(app);
  const names = typeNames(collections.map(({ id }) => id));
  const nameOf = ({ id }: CollectionDefinition) => names.get(id) ?? id;
  return `// The types of the app ${app.workspace.id}/${app.id}, written by its server. Do not edit: the next change is lost.
// deno-lint-ignore-file no-explicit-any
${collections.map((collection) => declareCollection(collection, nameOf(collection))).join('')}
${linkedFile}
/** Everything that the app has, for \`createClient<Types>(…)\`. */
export interface Types {
  collections: {
${collections.map((collection) => declareMember(app, collection, nameOf(collection))).join('\n')}
  };
  /** By method and path. */
  routes: {
${declareRoutes(routes)}  };
  files: LinkedFile;
}

/** The \`code\` of an error response. Hooks and custom routes may respond with others. */
export type ErrorCode =
${allErrorCodes.map((code) => `  | '${code}'`).join('\n')};
`;
}

const linkedFile = `/** A file, as \`expand\` of a field shows it. */
export interface LinkedFile {
  id: string;
  filename: string;
  mime: string;
  /** In bytes. */
  size: number;
  created_at: string;
  /** A path on the server, by which anybody may read the file until \`expires_at\`. */
  url: string;
  expires_at: string;
}
`;

function declareCollection(collection: CollectionDefinition, name: string): string {
  const { id } = collection;
  const fields = recordFields(collection).map(({ field, isNullable }) =>
    `    ${field.name}: ${kindOf(field).typeScript(field)}${isNullable ? ' | null' : ''};\n`
  );
  const record = `
/** A record of \`${id}\`. */
export interface ${name}Record {
  id: string;
  collection: '${id}';
  fields: {
${fields.join('')}  };
  created_at: string;
  updated_at: string;
}
`;
  return takesWrites(collection) ? record + declareInputs(collection, name) : record;
}

function declareInputs(collection: CollectionDefinition, name: string): string {
  const { id, kind } = collection;
  const create: string[] = [];
  const update: string[] = [];
  for (const { field, isNullable, isRequired, isModifiable } of inputFields(collection)) {
    const type = kindOf(field).typeScript(field);
    const orNull = isNullable ? ' | null' : '';
    create.push(`  ${field.name}${isRequired ? '' : '?'}: ${type}${orNull};\n`);
    update.push(`  ${field.name}?: ${type}${orNull};\n`);
    if (isModifiable) update.push(`  '${field.name}+'?: ${type};\n  '${field.name}-'?: ${type};\n`);
  }
  const ofUser = kind === 'auth' ? '  email: string;\n  password?: string;\n' : '';
  return `
/** What creates a record of \`${id}\`. */
export interface ${name}Create {
  id?: string;
${ofUser}${create.join('')}}

/** What changes a record of \`${id}\`. */
export interface ${name}Update {
${update.join('')}}
`;
}

function declareMember(app: AppDefinition, collection: CollectionDefinition, name: string): string {
  const inputs = takesWrites(collection)
    ? `create: ${name}Create;\n      update: ${name}Update;`
    : 'create: never;\n      update: never;';
  const expand = relationsOf(app, collection).map((relation) =>
    `        ${relation.name}: { to: '${relation.target}'; many: ${relation.isMany} };\n`
  );
  return `    ${collection.id}: {
      record: ${name}Record;
      ${inputs}
      expand: {
${expand.join('')}      };
      kind: '${collection.kind}';
    };`;
}
