// A process whose objects live long enough for V8 to make room for young ones. It is forked, and answers how much one half
// of their room may hold in the end.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { letYoungHeapGrow, youngCapacity } from '../../../api/process/young-heap.ts';

const turns = 1_500;
const eachTurn = 10_000;
/** Of objects: all outlive a collection. */
const kept = 30_000;

letYoungHeapGrow();
const living: unknown[] = [];
for (let count = 0; count < turns; count++) {
  for (let index = 0; index < eachTurn; index++) {
    living[(count * eachTurn + index) % kept] = { count, numbers: [index, count] };
  }
  await nextTurn();
}
process.send?.(youngCapacity());
