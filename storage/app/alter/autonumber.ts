// Fields that number records: the triggers that give the numbers, and the numbers of records that are there already.
import type { Field } from '../../definition.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import { numberingOf } from '../fields/autonumber.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';

/** The triggers of a field that numbers records, as the statements that make and remove them. */
export function numberingTriggers(
  table: TableName,
  { name, within }: { name: string; within: string | undefined },
): { add: string; remove: string } {
  const counter = counterName(table, name);
  const records = qualified(table);
  const [numbers, stays] = [counter, `${counter}_stays`].map(quoteIdentifier);
  const execute = (called: string, args: readonly string[]) =>
    `execute function ${qualified({ ...table, collection: called })}(${args.map(quoteLiteral).join(', ')})`;
  const add = [
    `create trigger ${numbers} before insert on ${records} for each row ` +
    execute('_autonumber', [counter, name, within ?? '']),
  ];
  const remove = [`drop trigger ${numbers} on ${records}`];
  if (within !== undefined) {
    const column = quoteIdentifier(within);
    add.push(
      `create trigger ${stays} before update of ${column} on ${records} for each row ` +
        `when (old.${column} is distinct from new.${column}) ${execute('_autonumber_stays', [counter])}`,
    );
    remove.push(`drop trigger ${stays} on ${records}`);
  }
  return { add: add.join('; '), remove: remove.join('; ') };
}

/**
 * The statements that number the records which have no number yet, in the order of their creation, behind those that have
 * one. Later records go on from there.
 */
export function startNumbering(table: TableName, field: Field): string {
  const records = qualified(table);
  const column = quoteIdentifier(field.name);
  const within = numberingOf(field)?.within;
  const shared = within === undefined ? `''` : `coalesce(${quoteIdentifier(within)}::text, '')`;
  return `
    lock table ${records} in share row exclusive mode;
    update ${records} as r set ${column} = n.number from (
      select id, greatest(0, ceil(max(${column}) over (partition by ${shared}))) +
        row_number() over (partition by ${shared}, ${column} is null order by created_at, id) as number
      from ${records}
    ) as n where r.id = n.id and r.${column} is null;
    insert into ${numbersOf(table)} (counter, shared, last)
      select ${
    quoteLiteral(counterName(table, field.name))
  }, ${shared}, greatest(0, ceil(max(${column})))::bigint
      from ${records} group by 2`;
}

/** The statements that remove the latest numbers of fields. */
export function endNumbering(table: TableName, fields: readonly Field[]): string[] {
  return fields.filter(numberingOf).map(({ name }) =>
    `delete from ${numbersOf(table)} where counter = ${quoteLiteral(counterName(table, name))}`
  );
}

/** The statements that keep the latest numbers of fields which get other names. */
export function renameNumbering(
  table: TableName,
  fields: readonly Field[],
  renames: ReadonlyMap<string, string>,
): string[] {
  return fields.filter(numberingOf).flatMap(({ name }) => {
    const next = renames.get(name);
    return next === undefined ? [] : [
      `update ${numbersOf(table)} set counter = ${quoteLiteral(counterName(table, next))} ` +
      `where counter = ${quoteLiteral(counterName(table, name))}`,
    ];
  });
}

function counterName({ collection }: TableName, name: string): string {
  return attachmentName('number', collection, name);
}

function numbersOf({ schema }: TableName): string {
  return qualified({ schema, collection: '_autonumbers' });
}
