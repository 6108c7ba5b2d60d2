// The bound above a level, and the effect of a change there: no other tenant's policy matters.
import { describe, expect, it } from 'vitest';
import { boundAbove, cascade, type StoredPolicy } from '../../../api/policies/cascade.ts';
import { combineLevels, type LevelName } from '../../../api/policies/chain.ts';

const range = (max: number) => ({ kind: 'range', min: 1, max }) as const;
const row = (workspace: string | null, app: string | null, max: number): StoredPolicy => ({
  workspace,
  app,
  field: 'x',
  spec: range(max),
});
const rows = [
  row(null, null, 90),
  row('acme', null, 80),
  row('acme', 'shop', 70),
  row('bank', null, 10),
  row('bank', 'shop', 60),
];

describe('the bound above', () => {
  it.each([
    ['an app', { workspace: 'acme', app: 'blog' }, 80],
    ['an app of another workspace', { workspace: 'bank', app: 'blog' }, 10],
    ['an app of a workspace that sets nothing', { workspace: 'zoo', app: 'shop' }, 90],
    ['a workspace', { workspace: 'acme', app: null }, 90],
    ['the system', { workspace: null, app: null }, 100],
  ])('%s is of its own levels alone', (_what, place, max) => {
    expect(boundAbove(rows, place, range(100))).toEqual(range(max));
  });
});

it('a change clamps apps to their own workspace, and names only the policies that change', () => {
  expect(cascade(rows, range(100))).toEqual([
    { scope: 'app', workspace: 'bank', app: 'shop', field: 'x', from: range(60), to: range(10) },
  ]);
  const narrowed = [row(null, null, 75), ...rows.slice(1)];
  expect(cascade(narrowed, range(100)).map(({ workspace, app, to }) => [workspace, app, to])).toEqual([
    ['acme', null, range(75)],
    ['bank', 'shop', range(10)],
  ]);
});

it('a level is clamped to those above it, whatever is stored, except for that of the master', () => {
  const server = { level: 'server', spec: range(50) } as const;
  const at = (level: LevelName, max: number) => ({ level, spec: range(max) });
  expect(combineLevels([server, at('workspace', 80)])?.spec).toEqual(range(50));
  expect(combineLevels([server, at('workspace', 40), at('app', 80)])?.spec).toEqual(range(40));
  expect(combineLevels([server, at('system', 80), at('workspace', 70)])?.spec).toEqual(range(70));
  expect(combineLevels([server, at('system', 80), at('workspace', 90)])?.spec).toEqual(range(80));
});
