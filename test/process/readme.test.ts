// The commands of the README and of the tutorial, run as a reader would run them, against a new server.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codesIn, follow } from '../harness/documentation-page.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});

afterEach(() => server.stop());

describe('the README', () => {
  it('leads from setup to a record and to hooks, with the one error that it shows', async () => {
    const output = await follow('README.md', { server });
    const list = JSON.parse(/\{"items".*?"next_cursor":null\}/.exec(output)?.[0] ?? 'null');
    expect(list).toMatchObject({
      items: [{ collection: 'orders', fields: { title: 'Tea', total: 12.5, paid: false } }],
      total_items: 1,
    });
    expect(codesIn(output)).toEqual(['hook_veto']);
    expect(output).toContain('too much at once');
    expect(output).toContain('{"hello":"you"}');
    // What it tells people to write is right.
    expect(output).not.toContain('TS18047');
  });
});

describe('the tutorial', () => {
  it('shows the errors that it speaks of, and no other', async () => {
    const output = await follow('docs/tutorial/first-backend.md', { server });
    expect(codesIn(output)).toEqual(['uninitialized', 'forbidden', 'validation', 'who_are_you']);
    expect(output).toContain('{"initialized":false}');
    expect(output).toContain('colour: unknown field');
    expect(output).toContain('"action":"collection_update"');
  });
});
