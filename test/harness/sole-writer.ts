// A process that tracks every write, and so caches the records that it reads.
import { createRecords } from '../../api/records/build.ts';
import type { BareDeps } from './bare-app.ts';

/** The same process as the only one that writes, and as if no other had before it. */
export function soleWriter(deps: BareDeps): BareDeps {
  return { ...deps, ...createRecords({ ...deps, settled: () => Promise.resolve() }) };
}
