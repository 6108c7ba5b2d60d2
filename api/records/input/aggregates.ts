// The query parameters `fn` and `group` of aggregates.
import {
  type Aggregate,
  aggregateFunctions,
  type AggregateName,
} from '../../../storage/app/records/groups/aggregate.ts';
import type { Comparable } from '../../../storage/app/fields/kind.ts';
import { kinds } from '../../../storage/app/fields/kinds.ts';
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import { failValidation } from '../../errors.ts';
import { failUnknown, namesIn } from './selection.ts';

const maxFunctions = 20;
const maxFields = 10;

const valueNames: Partial<Record<Comparable, string>> = {
  number: 'numbers',
  datetime: 'times',
  text: 'texts',
};
const syntax = /^([a-z]+)(?:\(\s*(\w+)\s*\))?$/;

/** A function as the response names it: `count`, `sum(total)`. */
export function labelOf({ name, column }: Aggregate): string {
  return column === undefined ? name : `${name}(${column})`;
}

/** Reads `count,sum(total)`. Throws `400 validation`, and `400 unknown_column`. */
export function readFunctions(plan: RecordPlan, text: string): Aggregate[] {
  const found = new Map(
    namesIn(text).map((written) => readFunction(plan, written)).map((fn) => [labelOf(fn), fn]),
  );
  if (found.size === 0) refuse('fn', 'must name a function, such as count or sum(total)');
  if (found.size > maxFunctions) refuse('fn', `must have at most ${maxFunctions} functions`);
  return [...found.values()];
}

function readFunction(plan: RecordPlan, written: string): Aggregate {
  const [, name = '', column] = syntax.exec(written) ?? [];
  const takes = isName(name) ? aggregateFunctions[name].takes : undefined;
  if (!isName(name) || (takes === undefined) !== (column === undefined)) {
    const known = Object.entries(aggregateFunctions).map(([name, { takes }]) =>
      takes ? `${name}(<field>)` : name
    );
    refuse('fn', `"${written.slice(0, 100)}" is none of ${known.join(', ')}`);
  }
  if (takes === undefined || column === undefined) return { name, column: undefined };
  const kind = plan.rows.kindOf(column) ?? failUnknown(plan, 'fn', column);
  if (plan.rows.isMany(column) || !takes.some((type) => type === kinds[kind].comparable)) {
    const wanted = takes.map((type) => valueNames[type]).join(', ');
    refuse('fn', `${name} takes ${wanted}, and "${column}" has none`);
  }
  return { name, column };
}

function isName(name: string): name is AggregateName {
  return Object.hasOwn(aggregateFunctions, name);
}

/** Reads `status,owner`. Throws `400 validation`, and `400 unknown_column`. */
export function readGroup(plan: RecordPlan, text: string | undefined): string[] {
  const columns = [...new Set(namesIn(text))];
  if (columns.length > maxFields) refuse('group', `must have at most ${maxFields} fields`);
  for (const column of columns) {
    const kind = plan.rows.kindOf(column) ?? failUnknown(plan, 'group', column);
    if (plan.rows.isMany(column)) refuse('group', `"${column}" holds many values, which make no groups`);
    if (kind === 'json') refuse('group', `the values of "${column}" are JSON, which makes no groups`);
  }
  return columns;
}

function refuse(field: string, reason: string): never {
  failValidation([{ field, reason }]);
}
