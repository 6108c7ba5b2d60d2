// The app that the calls of hook code reach.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findOwnApp } from '../../../api/app-api/own-app.ts';
import { type BareApp, bareApp } from '../../harness/bare-app.ts';

let bare: BareApp;
beforeAll(async () => {
  bare = await bareApp();
});
afterAll(() => bare.end());

it('is its own as it is by now', async () => {
  const before = await bare.definition();
  await bare.define('later', [{ name: 'title', kind: 'text' }]);
  const now = await findOwnApp(bare.deps, before);
  expect([before.collections.has('later'), now.collections.has('later')]).toEqual([false, true]);
});

it('is neither a later one of the same id, nor a deleted one', async () => {
  const later = await bare.definition();
  const gone = expect.objectContaining({ code: 'app_not_found' });
  await expect(findOwnApp(bare.deps, { ...later, schema: 'app_of_before' })).rejects.toEqual(gone);
  await expect(findOwnApp(bare.deps, { ...later, id: 'none' })).rejects.toEqual(gone);
});
