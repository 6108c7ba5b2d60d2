// How long a record may be that is made at once: a body may be longer than that where the setting says so.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BareApp, bareApp } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('long', [{ name: 'text', kind: 'text' }, { name: 'more', kind: 'json' }]);
});
afterAll(() => app.end());

it('a new record holds at most 16,777,216 characters, all of its values together', async () => {
  const text = 'x'.repeat(16_777_216 - 4);
  await expect(app.create('long', { text, more: ['xy'] })).rejects.toMatchObject({
    code: 'validation',
    message: 'the record would hold more than 16,777,216 characters',
  });
  expect(await app.count('long')).toBe(0);
  await app.create('long', { text, more: [12] });
  expect(await app.count('long')).toBe(1);
});
