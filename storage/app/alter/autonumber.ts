// Fields that number records: the triggers that give the numbers, and the numbers of records that are there already.
import type { Field } from '../../definition.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import { numberingOf } from '../fields/autonumber.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import { batchSize, type BuildAhead } from './attached.ts';

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
  const counter = quoteLiteral(counterName(table, field.name));
  const shared = sharedSql(numberingOf(field)?.within);
  return `
    lock table ${records} in share row exclusive mode;
    update ${records} as r set ${column} = n.number from (
      select id, greatest(0, ceil(max(${column}) over (partition by ${shared}))) +
        row_number() over (partition by ${shared}, ${column} is null order by created_at, id) as number
      from ${records}
    ) as n where r.id = n.id and r.${column} is null;
    delete from ${numbersOf(table)} where counter = ${counter};
    insert into ${numbersOf(table)} (counter, shared, last)
      select ${counter}, ${shared}, greatest(0, ceil(max(${column})))::bigint
      from ${records} group by 2`;
}

/**
 * How a new field gets its numbers while records are written. From the start, writers take numbers behind those of the records
 * that are there; these get theirs, in the order of their creation, from a table in which all of them are noted.
 */
export function numberingAhead(table: TableName, field: Field): BuildAhead {
  const { within } = numberingOf(field) ?? { within: undefined };
  const records = qualified(table);
  const column = quoteIdentifier(field.name);
  const shared = sharedSql(within);
  const counter = counterName(table, field.name);
  const noted = notedNumbers(table, counter);
  return {
    columns: within === undefined ? [field.name] : [within, field.name],
    ofNew: field.name,
    // Readers go on, and writers wait until the records are counted.
    prepare: [
      `lock table ${records} in share row exclusive mode`,
      `insert into ${numbersOf(table)} (counter, shared, last)
        select ${quoteLiteral(counter)}, ${shared}, count(*) from ${records} group by 2`,
      numberingTriggers(table, { name: field.name, within }).add,
    ].join('; '),
    steps: [
      {
        run: 'alone',
        text: `create table ${noted} as select row_number() over (order by created_at, id) as place, id,
          row_number() over (partition by ${shared} order by created_at, id) as number
          from ${records} where ${column} is null`,
      },
      { run: 'alone', text: `create index on ${noted} (place)` },
      {
        run: 'batches',
        from: '1',
        text: `with given as (
            update ${records} as r set ${column} = n.number from ${noted} as n
            where n.place >= $1::text::bigint and n.place < $1::text::bigint + ${batchSize}
              and r.id = n.id and r.${column} is null
          ) select place::text as next from ${noted} where place = $1::text::bigint + ${batchSize}`,
      },
      { run: 'alone', text: `drop table ${noted}` },
    ],
    adopt: '',
    undo: { run: 'quick', text: undoNumbering(table, counter) },
  };
}

/** Removes what is there of a numbering whose field is not, if anything is. */
export function undoNumbering(table: TableName, counter: string): string {
  const triggers = [counter, `${counter}_stays`].map((name) =>
    `drop trigger if exists ${quoteIdentifier(name)} on ${qualified(table)}`
  );
  return [
    ...triggers,
    `drop table if exists ${notedNumbers(table, counter)}`,
    `delete from ${numbersOf(table)} where counter = ${quoteLiteral(counter)}`,
  ].join('; ');
}

function notedNumbers({ schema }: TableName, counter: string): string {
  return qualified({ schema, collection: `${counter}_noted` });
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

/** The value that records share which are numbered together. */
function sharedSql(within: string | undefined): string {
  return within === undefined ? `''` : `coalesce(${quoteIdentifier(within)}::text, '')`;
}

/** The name of a numbering among the attachments of its table. */
export function numberingName(table: TableName, { name }: Pick<Field, 'name'>): string {
  return numberingNameOf(counterName(table, name));
}

/** The name of the numbering that has a counter. */
export function numberingNameOf(counter: string): string {
  return `${counter} triggers`;
}

function counterName({ collection }: TableName, name: string): string {
  return attachmentName('number', collection, name);
}

function numbersOf({ schema }: TableName): string {
  return qualified({ schema, collection: '_autonumbers' });
}
