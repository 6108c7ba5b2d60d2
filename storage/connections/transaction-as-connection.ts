// An open transaction in the place of a connection, for work that need not know which of them it has.
import { translate } from '../errors.ts';
import type { Connection, Sql } from './pool.ts';

/** What runs on it is part of the transaction; so is a transaction, which cannot be undone alone. Throws `StorageError`. */
export function transactionAsConnection(sql: Sql): Connection {
  const run: Connection['run'] = async (work) => {
    try {
      return await work(sql);
    } catch (error) {
      throw translate(error);
    }
  };
  return { run, transaction: run };
}
