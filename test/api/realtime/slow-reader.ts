// Related records that are read when the test says so.
import type { RecordChange } from '../../../api/realtime/event.ts';
import type { AuthorizedView } from '../../../api/realtime/ports.ts';
import type { Related, RelatedReader } from '../../../api/realtime/visibility/related-reads.ts';
import type { EventClient } from './event-client.ts';
import { type Rig, startRig, type TestGate } from './rig.ts';

/** A reader that answers when the test says so. */
export class SlowReader implements RelatedReader {
  readonly asked: { changes: readonly RecordChange[]; response: (related: Related) => void }[] = [];
  #wake = () => {};

  read(changes: readonly RecordChange[]): Promise<Related> {
    return new Promise((response) => {
      this.asked.push({ changes, response });
      this.#wake();
    });
  }

  /** Waits until something is asked for the `turn`th time, from 1, and answers it. */
  async response(turn: number, follow: Related['follow'] = () => author): Promise<number> {
    while (this.asked.length < turn) await new Promise<void>((resolve) => this.#wake = resolve);
    const asked = this.asked[turn - 1];
    if (asked === undefined) throw new Error('nothing was asked');
    const { changes, response } = asked;
    response({ follow, passes: () => true });
    return changes.length;
  }
}

/** The author of every record. */
export const author = { id: 'a', fields: {}, created_at: '', updated_at: '' };

/** A view that passes the changes of records which have an author. */
function lookingAt(reader: RelatedReader, view: AuthorizedView): AuthorizedView {
  const parts = new Map([['author', { hops: [], columns: new Set<string>() }]]);
  return {
    ...view,
    related: { reader, parts },
    passes: (change, related) => related.follow(change, 'author') !== undefined,
  };
}

/** A rig whose streams look at records by `viewOf`. */
export async function startRelatedRig(): Promise<{ rig: Rig; reader: SlowReader }> {
  const rig = await startRig();
  const reader = new SlowReader();
  rig.gate.rule = ({ filter = '' }) => viewOf(rig.gate, filter, reader);
  return { rig, reader };
}

/** What a client was sent of `rig.write({ n })`. */
export function numbersOf({ events }: EventClient): number[] {
  return events.map(({ data }) => (data as { n: number }).n);
}

/** The filter `author` looks at an author; any other looks at the record alone. */
export function viewOf(gate: TestGate, filter: string, reader: RelatedReader): AuthorizedView {
  const view = gate.view(filter, () => true);
  return filter.startsWith('author') ? lookingAt(reader, view) : view;
}
