// The tutorial about the example "tracker" shows its rules as they are, each of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf } from '../../harness/documentation-page.ts';
import { trackerRules } from '../../harness/tracker.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/tutorial/issue-tracker.md'), 'utf8');

/** `<collection> <action>, <action>: <filter>`, as lines of the blocks marked `rules`. */
function* shownRules(): Generator<[rule: string, filter: string]> {
  for (const { text } of blocksOf(page).filter(({ kind }) => kind === 'rules')) {
    for (const line of text.trimEnd().split('\n')) {
      const [, collection, actions = '', filter = ''] = /^(\w+) ([\w, ]+): (.+)$/.exec(line) ?? [];
      for (const action of actions.split(', ')) yield [`${collection} ${action}`, filter];
    }
  }
}

it('is of the rules that the example has', () => {
  const rules = Object.entries(trackerRules()).flatMap(([collection, filters]) =>
    Object.entries(filters).map(([action, filter]) => [`${collection} ${action}`, filter])
  );
  expect([...shownRules()].sort()).toEqual(rules.sort());
});
