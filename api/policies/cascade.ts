// What a change at one level makes of the levels below it.
import type { PolicyLevel, PolicyRow } from '../../storage/control/policies.ts';
import { combineLevels, type LevelSpec } from './chain.ts';
import { clamp, isSameSpec, type PolicySpec } from './spec.ts';
import { storedSpec } from './stored.ts';

/** A stored row, its spec read. */
export interface StoredPolicy extends PolicyLevel {
  field: string;
  spec: PolicySpec;
}

/** One child that a change above it has clamped. */
export interface Cascaded {
  scope: 'workspace' | 'app';
  workspace: string;
  app: string | null;
  field: string;
  from: PolicySpec;
  to: PolicySpec;
}

/** Reads rows of one field. */
export function readStored(rows: readonly PolicyRow[]): StoredPolicy[] {
  return rows.map(({ workspace, app, field, spec }) => ({ workspace, app, field, spec: storedSpec(spec) }));
}

/**
 * The bound that the levels above a place set on a field, or undefined where nothing is set above it. `server` is the
 * server's own, of a field with meaning.
 */
export function boundAbove(
  rows: readonly StoredPolicy[],
  { workspace, app }: PolicyLevel,
  server: PolicySpec | undefined,
): PolicySpec | undefined {
  const levels: LevelSpec[] = server === undefined ? [] : [{ level: 'server', spec: server }];
  for (const row of rows) {
    if (row.workspace === null && workspace !== null) levels.push({ level: 'system', spec: row.spec });
    else if (row.workspace !== null && row.workspace === workspace && row.app === null && app !== null) {
      levels.push({ level: 'workspace', spec: row.spec });
    }
  }
  return combineLevels(levels)?.spec;
}

/**
 * What becomes of the rows of a field when those above them are as they are now. `rows` come parents first; the answer
 * names exactly the rows whose spec must change, in that order.
 */
export function cascade(rows: readonly StoredPolicy[], server: PolicySpec | undefined): Cascaded[] {
  const top = boundAbove(rows, { workspace: '', app: null }, server);
  const workspaces = new Map<string, PolicySpec>();
  const changes: Cascaded[] = [];
  for (const { workspace, app, field, spec } of rows) {
    if (workspace === null) continue;
    const parent = app === null ? top : workspaces.get(workspace) ?? top;
    const to = parent === undefined ? spec : clamp(spec, parent);
    if (app === null) workspaces.set(workspace, to);
    if (isSameSpec(to, spec)) continue;
    changes.push({ scope: app === null ? 'workspace' : 'app', workspace, app, field, from: spec, to });
  }
  return changes;
}
