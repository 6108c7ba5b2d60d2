// An open transaction as a `Connection`, for work that may run on either.
import { translate } from '../errors.ts';
import type { Connection, Sql } from './pool.ts';

/**
 * Wraps a transaction. What runs on it is part of it; so is a transaction, which cannot be rolled back alone. Throws
 * `StorageError`.
 */
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
