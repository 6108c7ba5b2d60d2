// The files of a project that hold the definition of its app: collections, hook files and policies.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { CommandFailed } from './failure.ts';
import { listMember, memberOf, textMember } from './members.ts';

/** A file, by its path in the project. */
export interface DefinitionFile {
  path: string;
  text: string;
}

/** The files that a definition makes. Throws `CommandFailed` for a name that would lie outside of their folders. */
export function definitionFiles(definition: unknown): DefinitionFile[] {
  const collections = listMember(definition, 'collections').map((collection) => ({
    path: join('bulkhead', 'schema', safeName(`${textMember(collection, 'id') ?? ''}.json`)),
    text: toText(collection),
  }));
  const hooks = listMember(definition, 'hooks').map((hook) => ({
    path: join('bulkhead', 'hooks', safeName(textMember(hook, 'filename') ?? '')),
    text: textMember(hook, 'source') ?? '',
  }));
  const policies = listMember(definition, 'policies');
  const specs = Object.fromEntries(
    policies.map((policy) => [textMember(policy, 'field') ?? '', memberOf(policy, 'spec')]),
  );
  const ofPolicies = { path: join('bulkhead', 'policies.json'), text: toText(specs) };
  return [...collections, ...hooks, ...policies.length === 0 ? [] : [ofPolicies]];
}

/** The files that are not there, or have another text. Throws `CommandFailed`. */
export function outdatedFiles(files: readonly DefinitionFile[]): DefinitionFile[] {
  return files.filter(({ path, text }) => {
    try {
      return !existsSync(path) || readFileSync(path, 'utf8') !== text;
    } catch (error) {
      throw new CommandFailed('refused', `${path} cannot be read: ${messageOf(error)}`);
    }
  });
}

/** Writes files, in place of what they were. Throws `CommandFailed`. */
export function writeProjectFiles(files: readonly DefinitionFile[]): void {
  for (const { path, text } of files) {
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    } catch (error) {
      throw new CommandFailed('refused', `${path} cannot be written: ${messageOf(error)}`);
    }
  }
}

/** A server must not choose where a command writes. */
function safeName(name: string): string {
  if (/^[A-Za-z0-9_][^/\\\0]*\.(json|ts|js)$/.test(name) && !name.includes('..')) return name;
  throw new CommandFailed('refused', `the server names a file ${JSON.stringify(name)}, which is refused`);
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
