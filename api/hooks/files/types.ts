// Declarations for those who write hooks: what the runner gives them, and the fields of the app's own collections.
import { readFile } from 'node:fs/promises';
import { kindOf } from '../../../storage/app/fields/kinds.ts';
import type { AppDefinition, CollectionDefinition } from '../../../storage/definition.ts';
import { usersCollection } from '../../../storage/workspace/identities.ts';
import { recordFields } from '../../collections/record-members.ts';

/** In this order. */
const declarations = ['hooks', 'numbers', 'lists', 'modifiers', 'records', 'users'].map((name) =>
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

function declareFields(collection: CollectionDefinition): string {
  const lines = recordFields(collection).map(({ field, isNullable }) =>
    `    ${field.name}: ${kindOf(field).typeScript(field)}${isNullable ? ' | null' : ''};`
  );
  return `  ${collection.id}: {\n${lines.join('\n')}\n  };`;
}
