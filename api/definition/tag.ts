// Entity tags of definitions. Each has digests of the parts, so that a later definition can be compared with it by name.
import { createHash } from 'node:crypto';
import type { DefinitionDocument } from './document.ts';

/** Characters of base64url: 96 bits for the whole, 24 for a name and for the content of a part. */
const wholeLength = 16;
const partLength = 4;
/** More would make the header too long for proxies. */
const maxParts = 200;

/** A part of a definition that can change by itself. */
interface DefinitionPart {
  kind: 'collection' | 'policy' | 'hook';
  name: string;
}

/** The tag of a definition: a digest of all of it, one of what a push changes, and those of its parts. */
export function definitionTag(document: DefinitionDocument): string {
  const parts = partsOf(document);
  const digests = parts.length > maxParts ? [] : parts.map(({ name, content }) => name + content);
  return `"${digest(document, wholeLength)}${writableDigest(document)}${digests.join('')}"`;
}

/** Variables have routes of their own, and a push leaves them as they are. */
function writableDigest({ variables: _, ...writable }: DefinitionDocument): string {
  return digest(writable, wholeLength);
}

/** The parts that a definition, or the document of a request, names. */
function namedParts(
  { collections = [], policies = [], hooks = [] }: {
    collections?: readonly { id: string }[] | undefined;
    policies?: readonly { field: string }[] | undefined;
    hooks?: readonly { filename: string }[] | undefined;
  },
): DefinitionPart[] {
  return [
    ...collections.map(({ id }) => ({ kind: 'collection' as const, name: id })),
    ...policies.map(({ field }) => ({ kind: 'policy' as const, name: field })),
    ...hooks.map(({ filename }) => ({ kind: 'hook' as const, name: filename })),
  ];
}

function partsOf(document: DefinitionDocument) {
  const contents = [...document.collections, ...document.policies, ...document.hooks];
  return namedParts(document).map((part, index) => ({
    part,
    name: nameDigest(part),
    content: digest(contents[index], partLength),
  }));
}

function nameDigest({ kind, name }: DefinitionPart): string {
  return digest([kind, name], partLength);
}

function digest(value: unknown, length: number): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, length);
}
