// What is attached to a table besides its columns.

/** One constraint, index, table of links or search: its name, and the statements that make and remove it. */
export interface Attached {
  name: string;
  /** Undefined for what cannot be renamed as one. */
  kind?: 'constraint' | 'index';
  add: string;
  remove: string;
  /** The statements that follow fields which have new names; undefined for what is made again then. */
  follow?: string;
  /** True when it would be left if only the table or the column were dropped. */
  isApart?: true;
  /** How it is made while records are written; undefined for what is always made within the change. */
  ahead?: BuildAhead;
}

/** How something of a large table is made ahead of the change that needs it, while records are written. */
export interface BuildAhead {
  /** The columns that it reads. */
  columns: readonly string[];
  /** The column that must be a new one. */
  ofNew?: string;
  /** True when it can be made while what it takes the place of is there, under the same name. */
  replaces?: true;
  /** Quick statements, in one transaction: from then on each write keeps what they made. */
  prepare: string;
  /** What takes long, and holds no lock for long. */
  steps: readonly BuildStep[];
  /** The statements that make it the collection's own, within the change. */
  adopt: string;
  /** Removes what is there of it, if anything is. */
  undo: BuildStep;
}

/** One step of a build. */
export interface BuildStep {
  /**
   * `quick`: statements of one transaction, which wait for a lock for a moment only, because writers wait behind them.
   * `alone`: one statement outside a transaction. `batches`: one statement, run again and again: `$1` is where it begins, and
   * `next` of its row is where the next one does.
   */
  run: 'quick' | 'alone' | 'batches';
  text: string;
  /** Where the first of the batches begins. */
  from?: string;
}

/** The records, or the words, of one batch: their writers wait for it. */
export const batchSize = 1_000;
