// Paths that lead to many records: along a relation that holds many (`members.name`), backwards along a relation
// (`comments_via_issue`), or to all of a collection.
import type { Hop, Reach } from './condition.ts';
import { FilterError, quoted } from './parse/error.ts';
import type { Path } from './parse/tree.ts';
import type { FilterScope, FilterSource } from './source.ts';

/** The first part of a path that leads to many records, and the rest of it, which has names of these records. */
export interface ManyPath {
  reach: Reach;
  rest: Path;
  /** The scope of the rest. */
  scope: FilterScope;
}

/** Most relations that a path follows to one record. */
export const maxHops = 3;

/** Most steps from one record to many within each other. PostgreSQL plans a join for each. */
const maxLevels = 3;

/**
 * Splits a path where it first leads to many records; undefined when it leads to one. The relation that holds many and ends a
 * path leads to its items, which are values of one record, unless there is a condition on the `records`. Throws `FilterError`.
 */
export function splitPath(path: Path, scope: FilterScope, wanted?: 'records'): ManyPath | undefined {
  const start = startOf(path, scope);
  if (path.from === 'collection') return allOf(path, scope);
  const hops: Hop[] = [];
  let { source } = start;
  for (const [index, name] of path.names.entries()) {
    const column = source.columns.get(name);
    if (column === undefined) {
      const found = findBackward(name, source, scope);
      if (found === undefined) return undefined;
      const rest = { ...path, from: 'row', names: path.names.slice(index + 1) } as const;
      return {
        reach: { ...found, level: start.level, hops },
        rest,
        scope: within(scope, found.source, path),
      };
    }
    const next = column.target === undefined ? undefined : scope.target(column.target);
    if (next === undefined || column.target === undefined) return undefined;
    if (column.isMany === true) {
      const names = path.names.slice(index + 1);
      if (names.length === 0 && wanted !== 'records') return undefined;
      const { level } = start;
      const reach = { target: column.target, source: next, by: undefined, through: name, level, hops };
      return { reach, rest: { ...path, from: 'row', names }, scope: within(scope, next, path) };
    }
    source = next;
    if (hops.push({ column: name, target: column.target, source }) > maxHops) return undefined;
  }
  return undefined;
}

/** The scope in which a path begins. */
export function startOf({ from }: Path, scope: FilterScope): FilterScope {
  return from === 'record' ? scope.root ?? scope : scope;
}

/** The path as it is written. */
export function writtenPath({ from, names }: Path): string {
  return `${from === 'row' ? '' : `@${from}.`}${names.join('.')}`;
}

function allOf(path: Path, scope: FilterScope): ManyPath {
  const [target = '', ...names] = path.names;
  const source = scope.target(target);
  if (source === undefined) {
    throw new FilterError('unknown_column', `unknown column ${quoted(writtenPath(path))}`, path.at);
  }
  const reach: Reach = { target, source, by: undefined, level: scope.level, hops: [] };
  return { reach, rest: { ...path, from: 'row', names }, scope: within(scope, source, path) };
}

/** `comments_via_issue`: the records of `comments` whose relation `issue` leads to a record of the source. */
export function findBackward(
  name: string,
  { id }: Pick<FilterSource, 'id'>,
  scope: Pick<FilterScope, 'target'>,
): Pick<Reach, 'target' | 'source' | 'by'> | undefined {
  const via = '_via_';
  for (let at = name.indexOf(via); at !== -1; at = name.indexOf(via, at + 1)) {
    const [target, by] = [name.slice(0, at), name.slice(at + via.length)];
    const source = scope.target(target);
    if (source?.columns.get(by)?.target === id) return { target, source, by };
  }
  return undefined;
}

function within(scope: FilterScope, source: FilterSource, { at }: Path): FilterScope {
  const level = scope.level + 1;
  if (level > maxLevels) {
    throw new FilterError('parse_error', `asks for related records of more than ${maxLevels} levels`, at);
  }
  return { ...scope, source, level, root: scope.root ?? scope };
}
