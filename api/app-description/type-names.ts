// Names of TypeScript types for the collections of an app.

/** A name for each id, in the given order: `issue_labels` becomes `IssueLabels`. No two are the same. */
export function typeNames(ids: readonly string[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(ids.map((id) => {
    const name = id.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    taken.add(free);
    return [id, free];
  }));
}
