// The constraints and indexes of a table: those of its fields, and those over several fields.
import type { CollectionDefinition, CollectionIndex, Field } from '../../definition.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { type Numbering, numberingOf } from '../fields/autonumber.ts';
import { pointsTo } from '../fields/kinds.ts';
import { numberingAhead, numberingName, numberingTriggers } from './autonumber.ts';
import { searchAttachment, searchIndexes } from '../search/index-of-words.ts';
import type { Attached, BuildAhead } from './attached.ts';
import { linkReferences } from './links.ts';
import { attachmentName, indexName, qualified, type TableName } from '../tables.ts';

/** The parts of a definition that its table has. */
export type TableDefinition = Pick<CollectionDefinition, 'fields' | 'indexes' | 'search'>;

/** All constraints and indexes of a table, besides those of its id. */
export function attachments(table: TableName, { fields, indexes, search }: TableDefinition): Attached[] {
  return [
    ...fields.flatMap((field) => fieldAttachments(table, field)),
    ...indexes.map((index) => indexAttachment(table, index)),
    ...searchAttachment(table, { fields, search }),
  ];
}

/** The number of indexes that a table has, without that of its id. */
export function countIndexes({ fields, indexes, search }: TableDefinition): number {
  const numbered = fields.filter((field) => numberingOf(field) !== undefined);
  // A table of links has one of its own.
  const links = fields.filter((field) => field.many === true && pointsTo(field) !== undefined);
  return fields.filter(hasIndex).length + numbered.length + indexes.length + links.length +
    searchIndexes({ fields, search });
}

/** True when a field has an index, a unique one included. */
function hasIndex(field: Field): boolean {
  // To delete a record, PostgreSQL searches for references to it: without an index, in the whole table.
  return field.unique === true || field.index === true || pointsTo(field) !== undefined;
}

function fieldAttachments(table: TableName, field: Field): Attached[] {
  const attached: Attached[] = [];
  if (field.unique === true) attached.push(uniqueConstraint(table, field));
  else if (hasIndex(field)) attached.push(fieldIndex(table, field));
  const target = pointsTo(field);
  const numbering = numberingOf(field);
  if (numbering !== undefined) attached.push(...numberingAttachments(table, field, numbering));
  if (target === undefined) return attached;
  const to = target === 'users' ? 'workspace.users' : qualified({ schema: table.schema, collection: target });
  const references = field.many === true ? linkReferences(table, field, to) : [foreignKey(table, field, to)];
  return [...attached, ...references];
}

/** The index is the second line of defence, behind the triggers. */
function numberingAttachments(table: TableName, field: Field, { within }: Numbering): Attached[] {
  const name = attachmentName('number', table.collection, field.name);
  const fields = within === undefined ? [field.name] : [within, field.name];
  return [
    plainIndex(table, name, { fields, unique: true }),
    {
      name: numberingName(table, field),
      ...numberingTriggers(table, { name: field.name, within }),
      ahead: numberingAhead(table, field),
    },
  ];
}

function uniqueConstraint(table: TableName, field: Field): Attached {
  const name = attachmentName('unique', table.collection, field.name);
  const index = quoteIdentifier(name);
  return {
    ...constraint(table, name, `unique (${quoteIdentifier(field.name)})`),
    ahead: indexAhead(table, name, {
      columns: [field.name],
      build: `create unique index concurrently ${index} on ${qualified(table)} (${
        quoteIdentifier(field.name)
      })`,
      adopt: `alter table ${qualified(table)} add constraint ${index} unique using index ${index}`,
    }),
  };
}

function fieldIndex(table: TableName, { name, many }: Field): Attached {
  const method = many === true ? 'using gin ' : '';
  return plainIndex(table, attachmentName('index', table.collection, name), { fields: [name] }, method);
}

function indexAttachment(table: TableName, index: CollectionIndex): Attached {
  return plainIndex(table, indexName(table.collection, index), index);
}

function plainIndex(
  table: TableName,
  name: string,
  { fields, unique }: CollectionIndex,
  method = '',
): Attached {
  const columns = fields.map(quoteIdentifier).join(', ');
  const kind = unique === true ? 'unique index' : 'index';
  const rest = `${quoteIdentifier(name)} on ${qualified(table)} ${method}(${columns})`;
  return {
    name,
    kind: 'index',
    add: `create ${kind} ${rest}`,
    remove: `drop index ${quoteIdentifier(table.schema)}.${quoteIdentifier(name)}`,
    ahead: indexAhead(table, name, {
      columns: fields,
      build: `create ${kind} concurrently ${rest}`,
      adopt: '',
    }),
  };
}

function indexAhead(
  { schema }: TableName,
  name: string,
  { columns, build, adopt }: { columns: readonly string[]; build: string; adopt: string },
): BuildAhead {
  const index = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  return {
    ...{ columns, adopt, prepare: '' },
    steps: [{ run: 'alone', text: build }],
    // Records can be written meanwhile.
    undo: { run: 'alone', text: `drop index concurrently if exists ${index}` },
  };
}

function foreignKey(table: TableName, field: Field, target: string): Attached {
  const name = attachmentName('reference', table.collection, field.name);
  const column = quoteIdentifier(field.name);
  return constraint(
    table,
    name,
    `foreign key (${column}) references ${target} (id) on delete ${onDelete(field)}`,
  );
}

function constraint(table: TableName, name: string, definition: string): Attached {
  const altered = `alter table ${qualified(table)}`;
  return {
    name,
    kind: 'constraint',
    add: `${altered} add constraint ${quoteIdentifier(name)} ${definition}`,
    remove: `${altered} drop constraint ${quoteIdentifier(name)}`,
  };
}

/**
 * The second line of defence. The API does the same itself, record by record, because each is an event. Not `restrict`,
 * which would refuse a record whose referrers are deleted in the same statement.
 */
function onDelete({ cascade_delete, required }: Field): string {
  if (cascade_delete === true) return 'cascade';
  return required === true ? 'no action' : 'set null';
}
