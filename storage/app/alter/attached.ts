// What is attached to a table besides its columns.

/** One constraint, index or table of links: its name, and the statements that make and remove it. */
export interface Attached {
  name: string;
  /** Undefined for what cannot be renamed as one. */
  kind?: 'constraint' | 'index';
  add: string;
  remove: string;
  /** True when it would be left if only the table or the column were dropped. */
  isApart?: true;
  /** How its index is built while records are written, and what is done with that then; undefined for other attachments. */
  concurrently?: { columns: readonly string[]; build: string; adopt: string };
}
