// Reads what a query consists of from the tree that PostgreSQL keeps of it, a `pg_node_tree` as text. What it finds may be more than
// there is (PostgreSQL escapes braces and blanks in names, but a name may look like a member), and is never less.

/** The parts of a query, by the ids that the catalogue has for them. */
export interface QueryParts {
  nodes: ReadonlySet<string>;
  /** Functions, aggregates and window functions that are called by name or as a cast. */
  functions: readonly number[];
  operators: readonly number[];
  /** Tables and views, as often as they are named. */
  relations: readonly number[];
  types: readonly number[];
  /** The operations of `current_date` and its like. */
  valueFunctions: readonly number[];
}

const typeMembers =
  'vartype consttype paramtype resulttype funcresulttype opresulttype aggtype wintype casetype typeId ' +
  'coalescetype minmaxtype array_typeid element_typeid refcontainertype refelemtype refrestype type';

const patterns = {
  functions: /:(?:funcid|aggfnoid|winfnoid) (\d+)/g,
  operators: /:(?:opno|eqop|sortop) (\d+)/g,
  relations: /:relid (\d+)/g,
  types: new RegExp(`:(?:${typeMembers.replaceAll(' ', '|')}) (\\d+)`, 'g'),
  valueFunctions: /\{SQLVALUEFUNCTION :op (\d+)/g,
};

/** The parts of the query with this tree. */
export function partsOf(tree: string): QueryParts {
  const ids = (pattern: RegExp) =>
    [...tree.matchAll(pattern)].map((match) => Number(match[1])).filter((id) => id !== 0);
  return {
    nodes: new Set([...tree.matchAll(/(?<!\\)\{([A-Z_]+)/g)].map((match) => match[1] ?? '')),
    functions: ids(patterns.functions),
    operators: ids(patterns.operators),
    relations: ids(patterns.relations),
    types: ids(patterns.types),
    valueFunctions: [...tree.matchAll(patterns.valueFunctions)].map((match) => Number(match[1])),
  };
}
