// `console` of hook files, in a real runner.
import { expect, it } from 'vitest';
import { startForTest } from './runner.ts';

it('counts by label, asserts, and traces, each at its level', async () => {
  const runner = await startForTest();
  await runner.load({
    'a.ts': `routerAdd('GET', '/console', () => {
      console.count('a');
      console.count('a');
      console.countReset('a');
      console.count('a');
      console.assert(true, 'that holds');
      console.assert(false, 'that does not');
      console.trace('here');
    });`,
  });
  await runner.next('response', runner.request('GET /console'));
  for (
    const [level, message] of [
      ['info', 'a: 1'],
      ['info', 'a: 2'],
      ['info', 'a: 1'],
      ['error', 'Assertion failed that does not'],
      ['debug', 'here'],
    ]
  ) expect(await runner.log()).toMatchObject({ level, message });
});
