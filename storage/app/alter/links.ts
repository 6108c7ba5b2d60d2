// The references of a field that holds many: a row of a link table for each, with a foreign key. Triggers keep the table and
// the array in step (migrations/app/0008_many.sql).
import type { Field } from '../../definition.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import { leastItems } from '../fields/many.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import type { Attached } from './attached.ts';

/** The names around a field that holds many references. */
interface LinkedField {
  table: TableName;
  field: Field;
  /** The link table. */
  link: TableName;
  /** The foreign key, by which errors are told from each other. */
  constraint: string;
}

/**
 * The link table with its triggers, then the trigger for what is deleted, in the order in which they are made. `target` is the
 * quoted and qualified name of the table that the field points to.
 */
export function linkReferences(table: TableName, field: Field, target: string): Attached[] {
  const linked = {
    table,
    field,
    link: { ...table, collection: attachmentName('link', table.collection, field.name) },
    constraint: attachmentName('reference', table.collection, field.name),
  };
  return [linkTable(linked, target), deletionTrigger(linked)];
}

function linkTable({ table, field, link, constraint }: LinkedField, target: string): Attached {
  const [links, records, column] = [qualified(link), qualified(table), quoteIdentifier(field.name)];
  const run = execute(table, '_link_items', [link.collection, field.name]);
  const triggers: readonly (readonly [name: string, event: string, when: string])[] = [
    ['insert', 'insert', `new.${column} <> '{}'`],
    ['update', `update of ${column}`, `old.${column} is distinct from new.${column}`],
    ['delete', 'delete', `old.${column} <> '{}'`],
  ];
  const nameOf = (event: string) => quoteIdentifier(`${link.collection}_${event}`);
  return {
    name: link.collection,
    add: [
      `create table ${links} ("target" uuid not null constraint ${quoteIdentifier(constraint)} ` +
      `references ${target} (id) on delete cascade, "record" uuid not null, primary key ("target", "record"))`,
      `insert into ${links} select i, r."id" from ${records} as r, unnest(r.${column}) as i`,
      ...triggers.map(([event, on, when]) =>
        `create trigger ${nameOf(event)} after ${on} on ${records} for each row when (${when}) ${run}`
      ),
    ].join('; '),
    remove: [
      ...triggers.map(([event]) => `drop trigger ${nameOf(event)} on ${records}`),
      `drop table ${links}`,
    ].join('; '),
    isApart: true,
  };
}

/**
 * The second line of defence, as `on delete` is of single references: the API does the same itself, record by record, because
 * each is an event.
 */
function deletionTrigger({ table, field, link, constraint }: LinkedField): Attached {
  const name = `${link.collection}_target`;
  const outcome = field.cascade_delete === true ? 'delete' : String(leastItems(field));
  const run = execute(table, '_unlink_item', [table.collection, field.name, outcome, constraint]);
  return {
    name,
    add: `create trigger ${quoteIdentifier(name)} after delete on ${qualified(link)} for each row ${run}`,
    remove: `drop trigger ${quoteIdentifier(name)} on ${qualified(link)}`,
    isApart: true,
  };
}

function execute({ schema }: TableName, name: string, args: readonly string[]): string {
  return `execute function ${qualified({ schema, collection: name })}(${args.map(quoteLiteral).join(', ')})`;
}
