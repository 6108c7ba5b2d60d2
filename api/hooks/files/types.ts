// Declarations for those who write hooks: what the runner gives them, and the fields of the app's own collections.
import { readFile } from 'node:fs/promises';
import { kindOf } from '../../../storage/app/fields/kinds.ts';
import type { AppDefinition, CollectionDefinition, Field } from '../../../storage/definition.ts';
import { shownFields, usersCollection, usersId } from '../../../storage/workspace/identities.ts';

/** In this order. */
const declarations = ['hooks', 'numbers', 'lists', 'modifiers', 'records'].map((name) =>
  new URL(`../../../hook-runner/${name}.d.ts`, import.meta.url)
);
const globals = new URL('../../../hook-runner/globals.d.ts', import.meta.url);

/** The same with what editors know by themselves, for a type checker that knows none of it. */
export async function declareCheckedTypes(app: AppDefinition): Promise<string> {
  return `${await declareTypes(app)}${await readFile(globals, 'utf8')}`;
}

/** A declaration file. */
export async function declareTypes(app: AppDefinition): Promise<string> {
  const collections = [...app.collections.values(), usersCollection(app)];
  const texts = await Promise.all(declarations.map((file) => readFile(file, 'utf8')));
  return `${texts.join('\n')}
/** The collections of this app. */
interface HookCollections {
${collections.map(declareFields).join('\n')}
}

/** Those of them that hold profiles. */
interface HookProfiles {
${collections.filter(({ kind }) => kind === 'auth').map(({ id }) => `  ${id}: true;`).join('\n')}
}
`;
}

function declareFields({ id, kind, fields }: CollectionDefinition): string {
  const ofUser = kind === 'auth' ? shownFields : id === usersId ? fields : [];
  // All that is known of a user there is for everybody; only a login may be still to come.
  const isThere = (field: Field) => field.name !== 'last_login' && ofUser.includes(field);
  const all = kind === 'auth' ? [...shownFields, ...fields] : fields;
  const lines = all.map((field) => {
    const orNull = field.required === true || field.many === true || isThere(field) ? '' : ' | null';
    return `    ${field.name}: ${kindOf(field).hookType(field)}${orNull};`;
  });
  return `  ${id}: {\n${lines.join('\n')}\n  };`;
}
