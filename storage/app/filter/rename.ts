// Filters that are stored, when fields are renamed: the names in the text change, everything else of it stays.
import { resolveColumn } from './terms.ts';
import { FilterError } from './parse/error.ts';
import { parse } from './parse/parse.ts';
import type { Expression, Operand, Path } from './parse/tree.ts';
import { splitPath, startOf } from './reach.ts';
import { resolve } from './resolve.ts';
import type { FilterScope } from './source.ts';

/** Fields of one collection that get other names: the new names by the old ones. */
export interface FieldRenames {
  collection: string;
  names: ReadonlyMap<string, string>;
}

/** The piece of a path, counted from 0 at its beginning, that gets another name. `at`: the path's position. */
interface Edit {
  at: number;
  piece: number;
  name: string;
}

/** What a rename means for one filter. */
interface Renaming extends FieldRenames {
  edits: Edit[];
}

/**
 * The filter with the new names. `before` is its scope with the old ones. A filter that does not compile is returned as it
 * is.
 */
export function renameInFilter(filter: string, before: FilterScope, renames: FieldRenames): string {
  const renaming: Renaming = { ...renames, edits: [] };
  try {
    const expression = parse(filter);
    resolve(expression, before);
    collect(expression, before, renaming);
  } catch (error) {
    if (error instanceof FilterError) return filter;
    throw error;
  }
  return edited(filter, renaming.edits);
}

function collect(expression: Expression, scope: FilterScope, renaming: Renaming): void {
  switch (expression.kind) {
    case 'and':
    case 'or':
      for (const part of expression.parts) collect(part, scope, renaming);
      return;
    case 'not':
      return collect(expression.part, scope, renaming);
    case 'compare':
      for (const operand of [expression.left, expression.right]) collectOperand(operand, scope, renaming);
      return;
    case 'in':
      for (const operand of [expression.left, ...expression.items]) collectOperand(operand, scope, renaming);
      return;
    case 'some':
      return collect(
        expression.part,
        collectPath(expression.path, { scope, first: 0, wanted: 'records' }, renaming),
        renaming,
      );
  }
}

function collectOperand(operand: Operand, scope: FilterScope, renaming: Renaming): void {
  if (operand.kind === 'path') collectPath(operand, { scope, first: 0 }, renaming);
  // The body is that of a record of the collection whose rule this is.
  if (operand.kind === 'request' && operand.part === 'body') {
    const { id } = (scope.root ?? scope).source;
    edit(renaming, { collection: id, name: operand.name, at: operand.at, piece: 2 });
  }
  if (operand.kind === 'request' && operand.part === 'auth') {
    // `@request.auth.profile.members.plan`
    const [collection, name = ''] = operand.path;
    edit(renaming, { collection, name, at: operand.at, piece: 4 });
  }
}

/** Collects the edits of a path, of which `first` pieces have been seen. Returns the scope that it leads to. */
function collectPath(
  path: Path,
  { scope, first, wanted }: { scope: FilterScope; first: number; wanted?: 'records' },
  renaming: Renaming,
): FilterScope {
  const { names, at } = path;
  // `@record` and `@collection` are pieces, too.
  const begin = first + (path.from === 'row' ? 0 : 1);
  const many = names.length === 0 ? undefined : splitPath(path, scope, wanted);
  const hops = many?.reach.hops ?? (names.length === 0 ? [] : resolveColumn(path, scope).hops);
  const passed = hops.filter(({ isOwn }) => isOwn !== true);
  const sources = [startOf(path, scope).source, ...passed.map(({ source }) => source)];
  const fields = many === undefined || many.reach.through !== undefined ? passed.length + 1 : passed.length;
  for (const [index, name] of names.slice(0, fields).entries()) {
    edit(renaming, { collection: sources[index]?.id, name, at, piece: begin + index });
  }
  if (many === undefined) return scope;
  const { reach: { target, by }, rest } = many;
  const taken = names.length - rest.names.length;
  const renamed = by === undefined || target !== renaming.collection ? undefined : renaming.names.get(by);
  if (renamed !== undefined) {
    renaming.edits.push({ at, piece: begin + taken - 1, name: `${target}_via_${renamed}` });
  }
  if (rest.names.length === 0) return many.scope;
  return collectPath(rest, { scope: many.scope, first: begin + taken, ...wanted && { wanted } }, renaming);
}

function edit(
  { collection, names, edits }: Renaming,
  found: { collection: string | undefined; name: string; at: number; piece: number },
): void {
  const name = found.collection === collection ? names.get(found.name) : undefined;
  if (name !== undefined) edits.push({ at: found.at, piece: found.piece, name });
}

const pathText = /[@\w`.]+/y;

/** Words that a name alone is taken for, unless it is in backticks. */
const words: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null']);

function edited(filter: string, edits: readonly Edit[]): string {
  const pieces = new Map<number, string[]>();
  const characters = [...filter];
  for (const { at, piece, name } of edits) {
    const path = pieces.get(at) ?? textAt(characters, at).split('.');
    const isWord = words.has(name.toLowerCase()) || path[piece]?.startsWith('`') === true;
    path[piece] = piece === 0 && isWord ? `\`${name}\`` : name;
    pieces.set(at, path);
  }
  // From the end, so that the positions before stay.
  for (const [at, path] of [...pieces].sort(([one], [other]) => other - one)) {
    characters.splice(at - 1, [...textAt(characters, at)].length, path.join('.'));
  }
  return characters.join('');
}

/** The path at a position, as it is written. */
function textAt(characters: readonly string[], at: number): string {
  pathText.lastIndex = 0;
  return pathText.exec(characters.slice(at - 1).join(''))?.[0] ?? '';
}
