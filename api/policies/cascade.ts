// The effect of a change at one level on the levels below it.
import type { PolicyLevel, PolicyRow } from '../../storage/control/policies.ts';
import { combineLevels, type LevelSpec } from './chain.ts';
import { clamp, isSameSpec, type PolicySpec } from './spec.ts';
import { storedSpec } from './stored.ts';

/** A stored policy with its spec. */
export interface StoredPolicy extends PolicyLevel {
  field: string;
  spec: PolicySpec;
}

/** A policy that was clamped because of a change above it. */
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
 * The bound that the levels above a level set on a field; undefined when they set none. `server` is the server's own bound,
 * which built-in fields have.
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
 * Clamps the rows of a field to those above them. `rows` have parents first. The result has the rows whose spec changes, in
 * the same order.
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
