// What those who read records know of who remembers them.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';

/** Remembers records, as far as that is safe. */
export interface RecordMemory {
  /**
   * The record of this id (a UUID), which `read` reads where it is not remembered. It is everybody's: nobody may change it.
   */
  find(
    target: { app: AppDefinition; collection: CollectionDefinition },
    id: string,
    read: () => Promise<StoredRecord | undefined>,
  ): StoredRecord | undefined | Promise<StoredRecord | undefined>;
}
