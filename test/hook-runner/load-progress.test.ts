// What a runner reports while it loads files: enough to name the one that ends it, or never ends.
import { describe, expect, it } from 'vitest';
import { startForTest } from './runner.ts';

describe('the loader of the hook runner', () => {
  it('runs one file after another, imported ones first, and reports each before it runs', async () => {
    const runner = await startForTest();
    const { id } = await runner.load({
      'a.ts': `import './c.ts';\nawait new Promise((resolve) => setTimeout(resolve, 20));\nconsole.log('a');`,
      'b.ts': `console.log('b');`,
      'c.ts': `console.log('c');`,
    });
    const said = runner.frames.map((frame) =>
      frame.type === 'loading' ? frame.files : frame.type === 'log' ? frame.message : frame.type
    );
    expect(said).toEqual([['c.ts'], 'c', [], ['a.ts'], 'a', [], ['b.ts'], 'b', []]);
    expect(runner.frames.flatMap((frame) => frame.type === 'loading' && frame.id !== id ? frame : []))
      .toEqual([]);
  });

  it('reports all files whose top-level code is under way', async () => {
    const runner = await startForTest();
    await runner.load({ 'a.ts': 'await new Promise(() => {});', 'b.ts': '' }, { load_ms: 200 });
    const reports = runner.frames.flatMap((frame) => frame.type === 'loading' ? [frame.files] : []);
    expect(reports).toEqual([['a.ts'], ['a.ts', 'b.ts'], ['a.ts']]);
  });

  it('has reported the file that never ends before it runs', async () => {
    const runner = await startForTest();
    runner.startLoad({ 'a.ts': `import './c.ts';`, 'b.ts': '', 'c.ts': 'for (;;);' });
    expect(await runner.next('loading')).toMatchObject({ files: ['c.ts'] });
  });

  it('has reported the file that never ends after it has waited', async () => {
    const runner = await startForTest();
    const source = `await new Promise((resolve) => setTimeout(resolve, 20));
      console.log('goes on');
      await new Promise((resolve) => setTimeout(resolve, 1));
      for (;;);`;
    runner.startLoad({ 'a.ts': `import './c.ts';`, 'b.ts': '', 'c.ts': source });
    await runner.log();
    const reports = runner.frames.flatMap((frame) => frame.type === 'loading' ? [frame.files] : []);
    expect(reports).toEqual([['c.ts']]);
  });
});
