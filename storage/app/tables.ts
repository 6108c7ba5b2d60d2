// The names of the tables behind collections, and of the constraints and indexes on them.
import { createHash } from 'node:crypto';
import type { CollectionIndex } from '../definition.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/** The name of a collection's table. */
export interface TableName {
  schema: string;
  collection: string;
}

type Attachment =
  | 'primary'
  | 'unique'
  | 'index'
  | 'reference'
  | 'number'
  | 'link'
  | 'search'
  | 'vector'
  | 'words'
  | 'trigrams'
  | 'query';

const prefixes: Record<Attachment, string> = {
  primary: '_p_',
  unique: '_u_',
  index: '_i_',
  reference: '_r_',
  number: '_n_',
  link: '_l_',
  search: '_s_',
  vector: '_v_',
  words: '_w_',
  trigrams: '_t_',
  query: '_q_',
};

/**
 * The name of a constraint or an index of a column. Indexes share their name space with tables, so it begins as no
 * collection's name can. It is a hash, because 63 bytes do not hold the names of both.
 */
export function attachmentName(attachment: Attachment, collection: string, field: string): string {
  const digest = createHash('sha256').update(`${collection}.${field}`).digest('hex');
  return prefixes[attachment] + digest.slice(0, 24);
}

/** The name of an index that a collection declares over several fields. No field has a name with such characters. */
export function indexName(collection: string, { fields, unique }: CollectionIndex): string {
  return attachmentName(unique === true ? 'unique' : 'index', collection, `(${fields.join()})`);
}

/** The quoted, schema-qualified name. Every connection has an empty search_path. */
export function qualified({ schema, collection }: TableName): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(collection)}`;
}
