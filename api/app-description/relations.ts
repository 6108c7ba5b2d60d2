// Where `expand` leads from the records of a collection: forwards, to files, and backwards.
import { pointsTo } from '../../storage/app/fields/kinds.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { usersCollection } from '../../storage/workspace/identities.ts';

/** A name that `expand` takes. */
export interface Relation {
  name: string;
  /** The id of the collection that it leads to, or `filesId`. */
  target: string;
  isMany: boolean;
}

/** The collections that clients can read, in the order of their ids. */
export function readableCollections(app: AppDefinition): CollectionDefinition[] {
  return [...app.collections.values(), usersCollection(app)].sort((a, b) => a.id < b.id ? -1 : 1);
}

/** The names that `expand` takes for records of a collection. A field comes before a relation backwards of its name. */
export function relationsOf(app: AppDefinition, { id }: CollectionDefinition): Relation[] {
  const found = new Map<string, Relation>();
  const own = app.collections.get(id)?.fields ?? [];
  for (const field of own) {
    const target = pointsTo(field);
    if (target !== undefined) {
      found.set(field.name, { name: field.name, target, isMany: field.many === true });
    }
  }
  const names = new Set(own.map(({ name }) => name));
  for (const from of [...app.collections.values()].sort((a, b) => a.id < b.id ? -1 : 1)) {
    for (const field of from.fields) {
      const name = `${from.id}_via_${field.name}`;
      if (pointsTo(field) !== id || names.has(name) || found.has(name)) continue;
      found.set(name, { name, target: from.id, isMany: true });
    }
  }
  return [...found.values()];
}
